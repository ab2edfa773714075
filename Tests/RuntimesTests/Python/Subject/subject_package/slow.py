import os

import subject_package

os.write(subject_package.begin, b"x"); os.read(subject_package.end, 1)

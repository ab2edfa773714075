from subject import block


class Nested:
    block("class of a module")


import subject_package

block("module")

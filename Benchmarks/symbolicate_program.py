"""Makes the program of which addresses are symbolicated: much debug information, and a second to run.

One unit of templates and the standard library's is compiled, and its assembler text taken once more
for each further unit with other names: what the compiler would write for a source text with those
names, in a tenth of the time.
"""

import os
import subprocess

UNITS = 24
QUICK_UNITS = 4
FIRST = 100
COMPILER = ["g++", "-std=c++20", "-g", "-O2"]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "symbolicate_unit.cpp")


def make(folder, quick):
    """The program's path; made once."""
    program = os.path.join(folder, "units")
    if os.path.exists(program):
        return program
    units = QUICK_UNITS if quick else UNITS
    assembler = os.path.join(folder, "unit.s")
    subprocess.run(COMPILER + [f"-DUNIT={FIRST}", "-S", SOURCE, "-o", assembler], check=True)
    with open(assembler) as file:
        text = file.read()
    objects = []
    for number in range(FIRST, FIRST + units):
        with open(assembler, "w") as file:
            file.write(text.replace(f"unit{FIRST}", f"unit{number}")
                       .replace(f"run{FIRST}", f"run{number}"))
        objects.append(os.path.join(folder, f"unit{number}.o"))
        subprocess.run(["as", assembler, "-o", objects[-1]], check=True)
    main = os.path.join(folder, "main.cpp")
    with open(main, "w") as file:
        file.write(main_text(units))
    subprocess.run(COMPILER + [main] + objects + ["-Wl,--build-id=sha1", "-o", program], check=True)
    for path in objects + [assembler]:
        os.unlink(path)
    return program


def main_text(units):
    """Calls all units in turn for a second."""
    numbers = range(FIRST, FIRST + units)
    declarations = "\n".join(f"long run{number}(int);" for number in numbers)
    calls = "\n".join(f"        total += run{number}(30);" for number in numbers)
    return f"""#include <chrono>
{declarations}
int main()
{{
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    long total = 0;
    do {{
{calls}
    }} while (std::chrono::steady_clock::now() < end);
    return total == 1;
}}
"""


def debug_sections(program):
    """Sizes of the sections of DWARF, bytes by name."""
    lines = subprocess.run(["size", "-A", program], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    words = [line.split() for line in lines if line.startswith(".debug")]
    return {name: int(size) for name, size, _ in words}


def functions(program):
    """The functions that have a size: (start, size), ascending."""
    lines = subprocess.run(["nm", "-S", "--defined-only", program], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    found = set()
    for words in map(str.split, lines):
        if len(words) == 4 and words[2] in "tTwW" and int(words[1], 16) > 0:
            found.add((int(words[0], 16), int(words[1], 16)))
    return sorted(found)

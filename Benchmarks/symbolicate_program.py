"""Makes the program of which addresses are symbolicated: much debug information, and a second to run.

One unit of templates and the standard library's is compiled, and its assembler text taken once more
for each further unit with other names: what the compiler would write for a source text with those
names, in a tenth of the time. It is made split, too: debug information in a package beside it.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from typing import Callable

import split_package

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
    objects = make_objects(folder, quick, COMPILER)
    link(COMPILER, objects, program, quick)
    remove(objects)
    return program


def make_objects(folder, quick, compiler):
    """One object file for each unit."""
    assembler = os.path.join(folder, "unit.s")
    # clang leaves an empty .dwo where it works.
    subprocess.run(compiler + [f"-DUNIT={FIRST}", "-S", SOURCE, "-o", "unit.s"], check=True,
                   cwd=folder)
    with open(assembler) as file:
        text = file.read()
    objects = []
    for number in unit_numbers(quick):
        with open(assembler, "w") as file:
            file.write(text.replace(f"unit{FIRST}", f"unit{number}")
                       .replace(f"run{FIRST}", f"run{number}"))
        objects.append(os.path.join(folder, f"unit{number}.o"))
        subprocess.run([compiler[0], "-c", assembler, "-o", objects[-1]], check=True)
    os.unlink(assembler)
    return objects


def link(compiler, objects, program, quick):
    main = program + "-main.cpp"
    with open(main, "w") as file:
        file.write(main_text(unit_numbers(quick)))
    subprocess.run(compiler + [main] + objects + ["-Wl,--build-id=sha1", "-o", program], check=True)


def remove(paths):
    for path in paths:
        os.unlink(path)


def unit_numbers(quick):
    return range(FIRST, FIRST + (QUICK_UNITS if quick else UNITS))


@dataclass(frozen=True)
class Split:
    """A compiler whose debug information is split off, and what packs it."""

    name: str
    compiler: list
    version: int
    tools: list
    # Given the package's path and those of the .dwo files.
    pack: Callable

    def make(self, folder, quick):
        """The program's path: its package lies beside it."""
        program = os.path.join(folder, "split-" + self.name.replace(" ", "-"))
        options = [f"-gdwarf-{self.version}", "-gsplit-dwarf"]
        objects = make_objects(folder, quick, self.compiler + options)
        split_off = [path[:-1] + "dwo" for path in objects]
        for number, (path, other) in enumerate(zip(objects, split_off)):
            give_identity(path, number)
            subprocess.run(["objcopy", "--extract-dwo", path, other], check=True)
            subprocess.run(["objcopy", "--strip-dwo", path], check=True)
        # Of the main unit there is none, which would lie elsewhere.
        link(self.compiler + ["-g0"], objects, program, quick)
        self.pack(program + ".dwp", split_off)
        remove(objects + split_off)
        return program


SPLITS = [
    Split("GCC DWARF 4", ["g++", "-std=c++20", "-g", "-O2"], 4, ["g++", "dwp"],
          lambda package, paths: subprocess.run(["dwp", "-o", package] + paths, check=True)),
    Split("GCC DWARF 5", ["g++", "-std=c++20", "-g", "-O2"], 5, ["g++"],
          split_package.make),
    Split("clang DWARF 5", ["clang++", "-std=c++20", "-g", "-O2", "-Wno-deprecated-declarations"], 5, ["clang++", "llvm-dwp"],
          lambda package, paths: subprocess.run(["llvm-dwp", "-o", package] + paths, check=True)),
]


def give_identity(path, number):
    """All units come from one text, and have its id."""
    text = subprocess.run(["readelf", "--debug-dump=info", path], check=True, capture_output=True,
                          text=True).stdout
    found = int(re.search(r"(?:DWO ID:|DW_AT_GNU_dwo_id *:) *0x([0-9a-f]+)", text)[1], 16)
    with open(path, "rb") as file:
        data = file.read()
    own = (found + number) % (1 << 64)
    changed = data.replace(found.to_bytes(8, "little"), own.to_bytes(8, "little"))
    with open(path, "wb") as file:
        file.write(changed)


def main_text(numbers):
    """Calls all units in turn for a second."""
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

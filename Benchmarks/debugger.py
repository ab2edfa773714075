"""What gdb makes of single snapshots: registers and a copied stack become a core file, and what was
mapped is loaded as symbol files."""

import os
import struct
import subprocess
from dataclasses import dataclass, field

# In the order of the kernel's `user_regs_struct`: registers' DWARF numbers; None: what no unwinding needs.
ORDER = [15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, None, 16, "cs", None, 7, "ss"] + [None] * 6
SEGMENTS = {"cs": 0x33, "ss": 0x2B}

FRAMES = """
import gdb
def frames():
    frame = gdb.newest_frame()
    while frame is not None:
        # What was inlined or left by a tail call is on no stack.
        if frame.type() in (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME):
            yield frame.pc()
        frame = frame.older()
def show(core):
    found = []
    try:
        gdb.execute("core-file " + core, to_string=True)
        for address in frames():
            found.append(address)
    except gdb.error:
        pass
    print("FRAMES", *["%x" % address for address in found])
"""


@dataclass
class Snapshot:
    """As UnwindBenchmark tells of one on which the engines do not agree: frames are program counters in
    the process, innermost first."""

    kind: str
    registers: list = field(default_factory=list)
    start: int = 0
    stack: bytes = b""
    stacks: dict = field(default_factory=dict)
    modules: list = field(default_factory=list)

    def read(self, name, value):
        if name == "registers":
            self.registers = numbers(value)
        elif name == "stack":
            start, _, text = value.partition(" ")
            self.start, self.stack = int(start, 16), bytes.fromhex(text)
        elif name == "module":
            bias, _, path = value.partition(" ")
            self.modules.append((int(bias, 16), path))
        else:
            _, _, addresses = value.partition(" ")
            self.stacks[name] = numbers(addresses)


def numbers(text):
    return [int(word, 16) for word in text.split()]


def core(snapshot):
    """An ELF core file with one thread: elf(5), and `struct elf_prstatus` of <linux/elfcore.h>."""
    words = [snapshot.registers[name] if isinstance(name, int) else SEGMENTS.get(name, 0)
             for name in ORDER]
    status = struct.pack("<3ih2xQQ4i8Q", 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, *[0] * 8)
    status += struct.pack("<27Q", *words) + struct.pack("<i4x", 0)
    note = struct.pack("<3I", 5, len(status), 1) + b"CORE\0\0\0\0" + status
    first = 64 + 2 * 56
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    notes = struct.pack("<IIQQQQQQ", 4, 0, first, 0, 0, len(note), 0, 1)
    size = len(snapshot.stack)
    load = struct.pack("<IIQQQQQQ", 1, 6, first + len(note), snapshot.start, 0, size, size, 1)
    return header + notes + load + note + snapshot.stack


def stacks(snapshots, folder):
    """gdb's stack of each, all of one process; empty where it cannot read one."""
    commands = ["set backtrace past-main on", "set backtrace past-entry on", "set confirm off",
                f"source {os.path.join(folder, 'frames.py')}"]
    with open(os.path.join(folder, "frames.py"), "w") as file:
        file.write(FRAMES)
    for bias, path in sorted({module for one in snapshots for module in one.modules}):
        path = vdso(folder) if path == "[vdso]" else path
        if os.path.isfile(path):
            commands.append(f"add-symbol-file {path} -o {bias}")
    for index, snapshot in enumerate(snapshots):
        path = os.path.join(folder, f"{index}.core")
        with open(path, "wb") as file:
            file.write(core(snapshot))
        commands.append(f"python show('{path}')")
    command = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off",
               "-iex", "set auto-load off"]
    for text in commands:
        command += ["-ex", text]
    printed = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, errors="replace", timeout=600).stdout
    return [numbers(line[6:]) for line in printed.splitlines() if line.startswith("FRAMES")]


def vdso(folder):
    """Our own: all processes have the same."""
    path = os.path.join(folder, "vdso.so")
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
        for line in maps:
            if line.rstrip().endswith("[vdso]"):
                start, end = (int(word, 16) for word in line.split()[0].split("-"))
                memory.seek(start)
                with open(path, "wb") as file:
                    file.write(memory.read(end - start))
    return path


def agreed(first, second):
    """How many frames two stacks begin with alike."""
    return next((index for index, pair in enumerate(zip(first, second)) if pair[0] != pair[1]),
                min(len(first), len(second)))


def verdict(snapshot, stack):
    """With whom gdb goes further: "ours", "libunwind" or "neither"."""
    own, library = (agreed(snapshot.stacks[name], stack) for name in ("ours", "libunwind"))
    return "neither" if own == library else "ours" if own > library else "libunwind"

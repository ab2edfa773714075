#!/usr/bin/env python3
"""Makes a package of .dwo files of DWARF 5: split_package.py PACKAGE DWO...

For GCC's, which neither binutils' dwp (2.40: it crashes) nor llvm-dwp (22: it never ends) can read.
Strings are put one behind the other, not merged.
"""

import struct
import sys

# By DW_SECT_... of version 5.
SECTIONS = {1: ".debug_info.dwo", 3: ".debug_abbrev.dwo", 4: ".debug_line.dwo", 5: ".debug_loclists.dwo",
            6: ".debug_str_offsets.dwo", 8: ".debug_rnglists.dwo"}
STRINGS, OFFSETS, INDEX = ".debug_str.dwo", SECTIONS[6], ".debug_cu_index"
UNIT_HEADER, OFFSETS_HEADER = struct.Struct("<IHBBIQ"), struct.Struct("<IHH")
SPLIT_UNIT = 5


def sections_of(path):
    """The bytes of a file's sections, by name."""
    with open(path, "rb") as file:
        data = file.read()
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, table + size * number) for number in range(count)]
    texts = headers[names][4]
    return {data[texts + header[0]:data.index(0, texts + header[0])].decode():
            data[header[4]:header[4] + header[5]] for header in headers if header[1] != 0}


def unit_id(sections):
    _, version, kind, _, _, number = UNIT_HEADER.unpack_from(sections[SECTIONS[1]])
    if version != 5 or kind != SPLIT_UNIT:
        raise SystemExit("split_package: the first unit is no split one of DWARF 5")
    return number


def moved(offsets, distance):
    """A unit's offsets of strings, which begin further behind now."""
    numbers = struct.unpack_from(f"<{len(offsets) // 4 - 2}I", offsets, OFFSETS_HEADER.size)
    return offsets[:OFFSETS_HEADER.size] + struct.pack(
        f"<{len(numbers)}I", *(number + distance for number in numbers))


def package(units):
    """The sections of a package of units' sections."""
    result = {name: bytearray() for name in [*SECTIONS.values(), STRINGS]}
    rows = []
    for unit in units:
        unit[OFFSETS] = moved(unit[OFFSETS], len(result[STRINGS]))
        rows.append([(len(result[name]), len(unit.get(name, b""))) for name in SECTIONS.values()])
        for name, content in result.items():
            content += unit.get(name, b"")
    result[INDEX] = index([unit_id(unit) for unit in units], rows)
    return result


def index(ids, rows):
    slots = 1
    while 2 * slots < 3 * len(ids) + 1:
        slots *= 2
    table = [(0, 0)] * slots
    for row, number in enumerate(ids, 1):
        slot, step = number % slots, number >> 32 & slots - 1 | 1
        while table[slot][1]:
            slot = (slot + step) % slots
        table[slot] = (number, row)
    words = [5, len(SECTIONS), len(ids), slots]
    words += [word for number, _ in table for word in (number & 0xFFFFFFFF, number >> 32)]
    words += [row for _, row in table] + list(SECTIONS)
    for part in (0, 1):
        words += [place[part] for row in rows for place in row]
    return struct.pack(f"<{len(words)}I", *words)


def write(path, sections):
    """An ELF file of sections."""
    names, body, headers = b"\0", b"", [bytes(64)]

    def header(name, kind, content):
        return struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, 64 + len(body), len(content), 0, 0, 1, 0)

    for name, content in sections.items():
        headers.append(header(len(names), 1, content))
        names += name.encode() + b"\0"
        body += content
    names += b".shstrtab\0"
    headers.append(header(len(names) - 10, 3, names))
    body += names
    start = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 1, 62, 1, 0, 0, 64 + len(body), 0, 64,
                        0, 0, 64, len(headers), len(headers) - 1)
    with open(path, "wb") as file:
        file.write(start + body + b"".join(headers))


def make(path, units):
    write(path, package([sections_of(unit) for unit in units]))


if __name__ == "__main__":
    make(sys.argv[1], sys.argv[2:])

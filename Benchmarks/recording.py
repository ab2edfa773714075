#!/usr/bin/env python3
"""Reads the packed rows of a recording, by docs/recording-format.md and none of Firstlight's code.

`recording.py FILE TABLE` prints a table's rows as JSON, one a line.
"""

import json
import sqlite3
import sys
import zlib

# The columns behind the id: whole numbers, texts or blobs.
TABLES = {
    "children": {"pid": "i", "parent": "i", "name": "t", "start_ns": "i", "end_ns": "i",
                 "cpu_ns": "i", "outcome": "t", "outcome_value": "i",
                 "parent_child": "i", "capture": "t"},
    "marks": {"kind": "i", "time_ns": "i", "minor_faults": "i", "major_faults": "i",
              "read_bytes": "i", "child": "i"},
    "threads": {"tid": "i", "name": "t", "start_ns": "i", "end_ns": "i", "is_main": "i",
                "child": "i"},
    "mappings": {"start_address": "i", "end_address": "i", "bias": "i", "module": "i",
                 "time_ns": "i", "child": "i"},
    "slices": {"thread": "i", "start_ns": "i", "running_ns": "i", "runnable_ns": "i",
               "preempted_ns": "i", "blocked_ns": "i", "stack": "i", "system_call": "i",
               "truncation": "i"},
    "ready": {"time_ns": "i", "condition": "t"},
    "runs": {"thread": "i", "start_ns": "i", "data": "b"},
}
LONGEST_SHARED = 4096
# Columns that are written as what they are more than another one of the row.
BASES = {"mappings": {"end_address": "start_address", "bias": "start_address"}}


def rows(path, table):
    """A list of dictionaries, in the order of the ids."""
    columns = TABLES[table]
    found = {}
    with sqlite3.connect(path) as file:
        query = "SELECT rows, size, data FROM chunks WHERE name = ? ORDER BY id"
        for count, size, data in file.execute(query, [table]):
            if len(data) != size:
                data = zlib.decompress(data)
            if len(data) != size:
                raise ValueError(f"{path}: a chunk of {table} is not as long as it says")
            cursor = Cursor(data)
            ids = integers(cursor, count)
            read = {"i": integers, "t": texts, "b": blobs}
            values = [read[kind](cursor, count) for kind in columns.values()]
            if not cursor.is_at_end():
                raise ValueError(f"{path}: a chunk of {table} has more than its rows")
            for place, row in enumerate(ids):
                found[row] = dict(zip(columns, (column[place] for column in values)))
                for column, base in BASES.get(table, {}).items():
                    found[row][column] = signed(found[row][column] + found[row][base])
    file.close()
    return [found[row] for row in sorted(found)]


def header(path):
    with sqlite3.connect(path) as file:
        file.row_factory = sqlite3.Row
        values = dict(file.execute("SELECT * FROM header").fetchone())
    file.close()
    return values


class Cursor:
    def __init__(self, data):
        self.data, self.place = data, 0

    def is_at_end(self):
        return self.place == len(self.data)

    def number(self):
        result = shift = 0
        while True:
            byte = self.data[self.place]
            self.place += 1
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return result
            shift += 7

    def take(self, count):
        self.place += count
        if self.place > len(self.data):
            raise ValueError("a chunk is too short")
        return self.data[self.place - count:self.place]


def signed(number):
    """The number's lowest 64 bits."""
    return (number + 2**63) % 2**64 - 2**63


def integers(cursor, count):
    result, last = [], 0
    for _ in range(count):
        number = cursor.number()
        if number == 0:
            result.append(None)
            continue
        if number == 1:
            last = int.from_bytes(cursor.take(8), "little", signed=True)
        else:
            folded = number - 2
            last = signed(last + (-(folded + 1) // 2 if folded % 2 else folded // 2))
        result.append(last)
    return result


def texts(cursor, count):
    result, shared = [], []
    for _ in range(count):
        number = cursor.number()
        if number == 1:
            text = cursor.take(cursor.number())
            if len(text) <= LONGEST_SHARED:
                shared.append(text.decode())
            result.append(text.decode())
        else:
            result.append(shared[number - 2] if number else None)
    return result


def blobs(cursor, count):
    lengths_and_bytes = []
    for _ in range(count):
        number = cursor.number()
        lengths_and_bytes.append(cursor.take(number - 1) if number else None)
    return lengths_and_bytes


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in TABLES:
        raise SystemExit(f"usage: recording.py FILE {'|'.join(TABLES)}")
    for row in rows(sys.argv[1], sys.argv[2]):
        print(json.dumps(row, default=bytes.hex))

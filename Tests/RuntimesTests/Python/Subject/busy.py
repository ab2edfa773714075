"""What the live tests stop at any moment: calls of all kinds, for ever."""

import os


def leaf(count):
    total = 0
    for number in range(count):
        total += number
    return total


def values(count):
    for _ in range(count):
        yield leaf(3)


def both(count):
    return sum(values(count)) + max(map(lambda number: leaf(number), range(3)))


class Thing:
    def __init__(self, count):
        self.value = both(count)


def things(count):
    return [Thing(count).value for _ in range(3)]


def main():
    os.write(1, b"on\n")
    while True:
        things(2)
        exec("things(2)")


main()

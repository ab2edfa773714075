"""A program whose threads work for less than a millisecond at a time and then sleep: started by
shares.py, it says `ready` and goes on until its input ends, or a minute or two have passed."""

import json
import random
import re
import sys
import threading
import time
import zlib

THREADS = 24
MOST_SECONDS = 120
LEAST_SLEEP, MOST_SLEEP = 0.002, 0.008

WORDS = re.compile(r"[a-z]+")
TEXT = "the quick brown fox jumps over the lazy dog " * 8
BYTES = TEXT.encode() * 40


def count(_):
    return sum(each * each for each in range(2500))


def sort(chance):
    return sorted(chance.random() for _ in range(800))


def encode(_):
    return json.dumps({"numbers": list(range(600)), "text": TEXT})


def search(_):
    return len(WORDS.findall(TEXT * 2))


def check(_):
    return zlib.crc32(zlib.compress(BYTES[:6000]))


def work(seed, end):
    chance = random.Random(seed)
    jobs = [count, sort, encode, search, check]
    while time.monotonic() < end:
        chance.choice(jobs)(chance)
        time.sleep(chance.uniform(LEAST_SLEEP, MOST_SLEEP))


def main():
    end = time.monotonic() + MOST_SECONDS
    for seed in range(THREADS):
        threading.Thread(target=work, args=(seed, end), daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()

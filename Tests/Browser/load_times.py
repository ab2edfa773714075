"""Prints after how many milliseconds a page can be used: load_times.py PAGE ROUNDS.

From the navigation's start to the first picture with everything in it, as the page itself notes it;
a browser of its own for each round.
"""

import sys
import time
from pathlib import Path

from browser import browser


def load_time(path):
    with browser() as driver:
        driver.get(Path(path).resolve().as_uri())
        while True:
            ready = driver.execute_script("return document.documentElement.dataset.ready")
            if ready:
                return ready
            time.sleep(0.01)


if __name__ == "__main__":
    for _ in range(int(sys.argv[2])):
        print(load_time(sys.argv[1]), flush=True)

#!/usr/bin/env python3
"""The pictures of docs/example.md and README, of two recordings of Star Searcher's launch.

`make demo` leaves these in .build/demo.firstlight and .build/demo-mended.firstlight. Run this in the
repository's folder, whose sources the pages show.

usage: example_pictures.py FIRSTLIGHT RECORDING MENDED FOLDER
"""

import os
import subprocess
import sys
import tempfile
import time

from browser import By, browser

WIDTH = 1200


def write_page(firstlight, recording, path):
    """With the lines of source below this folder, as `firstlight view` shows them."""
    subprocess.run(
        [firstlight, "report", recording, "--format", "html", "--embed-source", "-o", path],
        check=True)


def wait_until_ready(driver):
    end = time.monotonic() + 20
    while not driver.execute_script("return document.documentElement.dataset.ready"):
        if time.monotonic() > end:
            raise SystemExit("the page did not become ready")
        time.sleep(0.02)


def click(driver, selector, text=None):
    next(element for element in driver.find_elements(By.CSS_SELECTOR, selector)
         if text in (None, element.get_attribute("textContent"))).click()


def select_initialisers(driver):
    click(driver, ".phase", "Static initialisers")


def show_flames(driver):
    click(driver, "#tab-flame")
    click(driver, "label", "Wall")
    click(driver, "#panel button", "In the order of time")


def take(page, height, path, prepare=lambda driver: None):
    with browser(width=WIDTH, height=height) as driver:
        driver.get("file://" + page)
        wait_until_ready(driver)
        prepare(driver)
        driver.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
        # A pointer over the page would show what is under it.
        driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": 0, "y": 0})
        time.sleep(0.3)
        driver.save_screenshot(path)


def main():
    if len(sys.argv) != 5:
        raise SystemExit(__doc__)
    firstlight, recording, mended, target = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        before, after = (os.path.join(folder, name + ".html") for name in ("before", "after"))
        write_page(firstlight, recording, before)
        write_page(firstlight, mended, after)
        take(before, 760, os.path.join(target, "launch-before.png"), select_initialisers)
        take(before, 700, os.path.join(target, "launch-flames.png"), show_flames)
        take(after, 620, os.path.join(target, "launch-after.png"))


if __name__ == "__main__":
    main()

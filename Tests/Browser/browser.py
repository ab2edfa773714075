"""A browser without a window, and a base for the tests that look at pages in it."""

import atexit
import functools
import os
import shutil
import unittest
from contextlib import contextmanager
from pathlib import Path

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
except ImportError:
    webdriver = Service = By = ActionChains = None


def missing():
    """Why there can be no browser; None if there can."""
    if webdriver is None:
        return "Python's selenium is not installed"
    for names in (["chromium", "chromium-browser", "google-chrome"], ["chromedriver"]):
        if not found(names):
            return f"{names[0]} is not installed"
    return None


def found(names):
    """The first of these programs that is installed."""
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def browser():
    """A driver of a browser of its own."""
    driver = started()
    try:
        set_size(driver)
        yield driver
    finally:
        driver.quit()


@functools.cache
def shared(dark, scripts):
    """The driver of a browser for all tests: to start one takes longer than most of them."""
    driver = started(dark, scripts)
    atexit.register(driver.quit)
    return driver


def started(dark=False, scripts=True):
    """A browser's driver. What the console says is kept: see `complaints`."""
    options = webdriver.ChromeOptions()
    options.binary_location = found(["chromium", "chromium-browser", "google-chrome"])
    for argument in ["headless=new", "disable-gpu", "disable-dev-shm-usage",
                     "force-device-scale-factor=1", "hide-scrollbars", "no-first-run",
                     "disable-background-networking", "disable-component-update"]:
        options.add_argument("--" + argument)
    # Root may not have a sandbox, and containers often have none to give; the pages are our own.
    if os.geteuid() == 0 or os.environ.get("CI") == "true":
        options.add_argument("--no-sandbox")
    if dark:
        options.add_argument("--force-dark-mode")
    if not scripts:
        options.add_experimental_option(
            "prefs", {"profile.managed_default_content_settings.javascript": 2})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(found(["chromedriver"])), options=options)


def set_size(driver, width=1280, height=900):
    """The page's: the window's includes what a browser has around it."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})


def empty_tab(driver):
    """In place of the one before, of which nothing is left: settings, pointer, complaints."""
    before = driver.current_window_handle
    driver.switch_to.new_window("tab")
    after = driver.current_window_handle
    driver.switch_to.window(before)
    driver.close()
    driver.switch_to.window(after)
    ActionChains(driver).reset_actions()
    complaints(driver)


def complaints(driver):
    """What the console got since the last call, information left out: errors and warnings."""
    return [f"{entry['level']}: {entry['message']}" for entry in driver.get_log("browser")
            if entry["level"] in ("SEVERE", "WARNING")]


class BrowserTest(unittest.TestCase):
    """Skipped, with the reason, where there is no browser; under CI=true that is a failure."""

    @classmethod
    def setUpClass(cls):
        reason = missing()
        if reason and os.environ.get("CI") == "true":
            raise AssertionError(reason)
        if reason:
            raise unittest.SkipTest(reason)

    def open(self, path, fragment="", dark=False, scripts=True, **size):
        """A browser that shows a file, until another is opened."""
        driver = shared(dark, scripts)
        empty_tab(driver)
        set_size(driver, **size)
        driver.get(Path(path).resolve().as_uri() + (f"#{fragment}" if fragment else ""))
        self.addCleanup(self.keep_screenshot_of_failure, driver)
        return driver

    def keep_screenshot_of_failure(self, driver):
        if any(error for _, error in getattr(self._outcome, "errors", [])):
            screenshot(driver, self.id() + "-failed")

    def point(self, driver, element):
        """The pointer to the middle of an element."""
        ActionChains(driver).move_to_element(element).perform()

    def assert_quiet(self, driver):
        self.assertEqual(complaints(driver), [])


def screenshot(driver, name):
    """Left for people to look at, in .build/screenshots."""
    folder = Path(os.environ["SCREENSHOTS"])
    folder.mkdir(parents=True, exist_ok=True)
    driver.save_screenshot(str(folder / f"{name}.png"))

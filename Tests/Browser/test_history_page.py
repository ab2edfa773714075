"""A history as a page: what it shows, how it is handled, and that names in it are inert.

The pages are made up: ReportTests write them into the folder that PAGES names (`pagesForBrowsers` in
PageWritingTests.swift).
"""

import unittest

from browser import By, screenshot
from test_measurement_page import Keys, MeasurementTest


class WhatItShows(MeasurementTest):
    def test_answer_plots_and_table(self):
        driver = self.show("history")
        verdict = self.element(driver, ".verdict.slower").text
        self.assertIn("between 1.6 and 1.7", verdict)
        self.assertIn("the largest part in Main", verdict)
        self.assertIn(
            "goal 45.00 ms: missed by 1.11", driver.find_element(By.TAG_NAME, "main").text)
        titles = [heading.text for heading in self.elements(driver, "h2")]
        self.assertEqual(titles[1:], ["Launch", "Phases", "Versions"])
        self.assertEqual(len(self.elements(driver, "tbody tr")), 12)
        for name in ("Launch", "Phases"):
            self.assertEqual(
                len(self.section(driver, name).find_elements(By.CSS_SELECTOR, ".datum")), 12)
        screenshot(driver, "history")

    def test_series_stand_below_each_other(self):
        driver = self.show("history-several")
        self.assertEqual(len(self.elements(driver, "svg.plot")), 4)
        self.assertIn("broken.firstlight", self.section(driver, "Left out").text)

    def test_wide_and_narrow_dark_and_light(self):
        for settings in ({"dark": True}, {"width": 400}):
            driver = self.show("history", **settings)
            wide = driver.execute_script(
                "return document.documentElement.scrollWidth > innerWidth")
            self.assertFalse(wide, settings)
            screenshot(driver, "history-" + "-".join(settings))

    def test_without_scripts(self):
        driver = self.show("history", scripts=False)
        self.assertEqual(len(self.elements(driver, "svg.plot")), 2)
        self.assertEqual(len(self.elements(driver, "tbody tr")), 12)


class Handling(MeasurementTest):
    def test_keys_go_from_version_to_version(self):
        driver = self.show("history")
        self.plot(driver, "Launch").click()
        driver.execute_script("arguments[0].focus()", self.plot(driver, "Launch"))
        self.sent(driver, Keys.HOME)
        self.assertIn("1.0 · since", self.tip(driver))
        self.sent(driver, Keys.ARROW_RIGHT)
        self.assertIn("1.1 · since", self.tip(driver))
        self.sent(driver, Keys.END)
        self.assertIn("1.11 · since", self.tip(driver))
        self.assertIn("current", self.element(driver, "#launch-12").get_attribute("class"))
        self.sent(driver, Keys.ENTER, Keys.ESCAPE)
        self.assertIsNone(self.tip(driver))

    def test_phases_tell_of_their_parts(self):
        driver = self.show("history")
        driver.execute_script("arguments[0].focus()", self.plot(driver, "Phases"))
        self.sent(driver, Keys.HOME)
        self.assertIn("Static initialisers:", self.tip(driver))

    def test_plots_are_named(self):
        driver = self.show("history")
        for plot in self.elements(driver, "svg.plot"):
            self.assertEqual(plot.get_attribute("role"), "img")
            self.assertIn("12 versions", plot.get_attribute("aria-label"))
            self.assertEqual(plot.get_attribute("tabindex"), "0")


class HostileNames(MeasurementTest):
    def test_are_text(self):
        driver = self.show("history-hostile")
        self.assertEqual(self.elements(driver, "img"), [])
        self.assertEqual(len(self.elements(driver, "script")), 1)
        self.assertIn(
            "<img src=x onerror=alert(1)>", driver.find_element(By.TAG_NAME, "main").text)


class ManyVersions(MeasurementTest):
    def test_are_all_there(self):
        driver = self.show("history-long")
        self.assertEqual(
            len(self.section(driver, "Launch").find_elements(By.CSS_SELECTOR, ".datum")), 900)
        self.assertEqual(len(self.elements(driver, "line.change")), 2)


if __name__ == "__main__":
    unittest.main()

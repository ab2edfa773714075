"""A measurement as a page: what it shows, how it is handled, and that names in it are inert.

The pages are of measurements made up: ReportTests write them into the folder that PAGES names
(`pagesForBrowsers` in PageWritingTests.swift).
"""

import os
import re
import unittest

from browser import BrowserTest, By, screenshot

try:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
except ImportError:
    ActionChains = Keys = None

PAGES = os.environ.get("PAGES", "")
MARKS = "Launches in their order"


class MeasurementTest(BrowserTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if os.path.isfile(os.path.join(PAGES, "one.html")):
            return
        reason = "no pages: PAGES=FOLDER swift test --filter pagesForBrowsers writes them"
        if os.environ.get("CI") == "true":
            raise AssertionError(reason)
        raise unittest.SkipTest(reason)

    def show(self, name, **settings):
        driver = self.open(os.path.join(PAGES, f"{name}.html"), **settings)
        if settings.get("scripts", True):
            # Modules have run when the page has been loaded.
            self.assertTrue(driver.execute_script(
                "return document.documentElement.dataset.ready"))
        return driver

    def element(self, driver, selector):
        return driver.find_element(By.CSS_SELECTOR, selector)

    def elements(self, driver, selector):
        return driver.find_elements(By.CSS_SELECTOR, selector)

    def section(self, driver, title):
        return next(section for section in self.elements(driver, "section")
                    if section.find_element(By.TAG_NAME, "h2").text == title)

    def plot(self, driver, title):
        return self.section(driver, title).find_element(By.CSS_SELECTOR, "svg.plot")

    def mark(self, driver, launch, title=MARKS):
        return self.section(driver, title).find_element(
            By.CSS_SELECTOR, f".datum[data-launch='{launch}']")

    def is_open(self, driver):
        """Whether the table of all launches is; what is in a closed one counts as displayed."""
        return self.element(driver, "#launches").get_attribute("open") is not None

    def tip(self, driver):
        """What is told; None if nothing is."""
        tip = self.element(driver, "#tip")
        return tip.text if tip.is_displayed() else None

    def sent(self, driver, *keys):
        ActionChains(driver).send_keys(*keys).perform()

    def whole(self, driver, name):
        """A picture of all of the page, for people to look at."""
        height = driver.execute_script("return document.documentElement.scrollHeight")
        width = driver.execute_script("return document.documentElement.clientWidth")
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": min(height, 8000), "deviceScaleFactor": 1, "mobile": False})
        screenshot(driver, name)


class WhatItShows(MeasurementTest):
    def test_everything_of_one_program(self):
        driver = self.show("one")
        self.assertIn("starsearcher-new", self.element(driver, "h1").text)
        self.assertRegex(self.element(driver, "header .figures").text,
                         r"median \d+\.\d+ ms \(.* to .* ms\) · 38 launches · warm")
        notes = [note.text for note in self.elements(driver, ".note")]
        self.assertEqual(len(notes), 3)
        titles = [title.text for title in self.elements(driver, "h2")]
        self.assertEqual(titles, ["Launches in their order", "Phases", "Distribution", "Figures",
                                  "Launches that do not count"])
        self.whole(driver, "measurement-one")
        self.assert_quiet(driver)

    def test_two_programs_and_their_difference(self):
        driver = self.show("two")
        self.assertIn("starsearcher-new is slower than starsearcher-old",
                      self.element(driver, ".verdict").text)
        self.assertEqual(self.elements(driver, "h2")[0].text, "Difference")
        arms = driver.execute_script("""
            return [...document.querySelectorAll("section:nth-of-type(2) .datum.dot")]
                .map(mark => [mark.tagName, getComputedStyle(mark).fill]);""")
        self.assertEqual(len({tuple(arm) for arm in arms}), 2, "shape and colour tell the arms")
        self.assertEqual({arm[0] for arm in arms}, {"circle", "rect"})
        self.whole(driver, "measurement-two")
        self.assert_quiet(driver)

    def test_few_and_many(self):
        for name in ["few", "many"]:
            with self.subTest(name):
                driver = self.show(name)
                self.whole(driver, f"measurement-{name}")
                self.assert_quiet(driver)

    def test_marks_lie_where_their_figures_are(self):
        driver = self.show("one")
        places = driver.execute_script("""
            const rows = new Map([...document.querySelectorAll("tr[data-launch]")].map(
                row => [row.dataset.launch, row.classList.contains("discarded")]));
            const plot = document.querySelectorAll("section")[0].querySelector("svg.plot");
            return [...plot.querySelectorAll("circle.datum")].map(mark => {
                const box = mark.getBoundingClientRect();
                return { x: box.left, y: box.top, time: parseFloat(mark.told[1]),
                    discarded: rows.get(mark.dataset.launch) }; });""")
        self.assertEqual(len(places), 38)
        self.assertFalse(any(place["discarded"] for place in places))
        self.assertEqual(places, sorted(places, key=lambda place: place["x"]))
        # The longer, the higher.
        by_time = sorted(places, key=lambda place: place["time"])
        for shorter, longer in zip(by_time, by_time[1:]):
            self.assertGreaterEqual(shorter["y"] + 0.5, longer["y"])

    def test_everything_lies_within_its_plot(self):
        for width in [1024, 1800]:
            driver = self.show("two", width=width)
            outside = driver.execute_script("""
                return [...document.querySelectorAll("svg.plot")].flatMap(plot => {
                    const frame = plot.getBoundingClientRect();
                    return [...plot.querySelectorAll("*")].filter(part => {
                        const box = part.getBoundingClientRect();
                        return part.tagName !== "title" && (box.left < frame.left - 1
                            || box.right > frame.right + 1 || box.top < frame.top - 1
                            || box.bottom > frame.bottom + 1);
                    }).map(part => part.outerHTML); });""")
            self.assertEqual(outside, [])


class Handling(MeasurementTest):
    def test_pointing_tells_of_a_launch_and_shows_it_everywhere(self):
        driver = self.show("one")
        self.point(driver, self.mark(driver, 13))
        told = self.tip(driver)
        self.assertTrue(told.startswith("Launch 13\n"), told)
        self.assertRegex(told, r"\n\d+\.\d+ ms\n")
        self.assertIn("CPU", told)
        same = self.elements(driver, ".current")
        self.assertGreater(len(same), 8)
        self.assertEqual({one.get_attribute("data-launch") for one in same}, {"13"})
        screenshot(driver, "measurement-hover")
        self.point(driver, self.element(driver, "h1"))
        self.assertIsNone(self.tip(driver))
        self.assertEqual(self.elements(driver, ".current"), [])
        self.assert_quiet(driver)

    def test_a_discarded_launch_tells_why(self):
        driver = self.show("one")
        self.point(driver, self.mark(driver, 20))
        self.assertIn("does not count: not ready in time (--watchdog)", self.tip(driver))
        self.assertIn("10.00 s", self.tip(driver))

    def test_a_bar_tells_how_many(self):
        driver = self.show("two")
        self.point(driver, self.element(driver, ".datum.bar"))
        self.assertRegex(self.tip(driver), r" to .* ms\n\d+ of 20 launches \(\d+\.\d %\)")

    def test_keys_alone_do_all(self):
        driver = self.show("one")
        for _ in range(20):
            self.sent(driver, Keys.TAB)
            if driver.execute_script("return document.activeElement.matches('svg.plot')"):
                break
        self.sent(driver, Keys.ARROW_RIGHT)
        self.assertTrue(self.tip(driver).startswith("Launch 1\n"))
        self.sent(driver, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        self.assertTrue(self.tip(driver).startswith("Launch 3\n"))
        self.sent(driver, Keys.ARROW_LEFT)
        self.assertTrue(self.tip(driver).startswith("Launch 2\n"))
        self.sent(driver, Keys.END)
        self.assertTrue(self.tip(driver).startswith("Launch 41\n"))
        self.sent(driver, Keys.HOME)
        self.assertTrue(self.tip(driver).startswith("Launch 1\n"))
        self.sent(driver, Keys.ESCAPE)
        self.assertIsNone(self.tip(driver))
        self.sent(driver, Keys.END, Keys.ENTER)
        row = self.element(driver, "#launch-41")
        self.assertTrue(self.is_open(driver))
        top = driver.execute_script("return arguments[0].getBoundingClientRect().top", row)
        self.assertTrue(0 <= top <= 900, top)
        self.assert_quiet(driver)

    def test_a_click_leads_to_the_launch_in_the_table(self):
        driver = self.show("one")
        self.assertFalse(self.is_open(driver))
        self.mark(driver, 13).click()
        self.assertTrue(self.is_open(driver))


class Looks(MeasurementTest):
    def test_dark_and_narrow(self):
        for name in ["one", "two", "hostile"]:
            with self.subTest(name):
                driver = self.show(name, width=1024, dark=True)
                back = driver.execute_script(
                    "return getComputedStyle(document.body).backgroundColor")
                self.assertLess(max(map(int, re.findall(r"\d+", back)[:3])), 60, back)
                for details in self.elements(driver, "details"):
                    driver.execute_script("arguments[0].open = true", details)
                self.assertLessEqual(driver.execute_script(
                    "return document.documentElement.scrollWidth"), 1024)
                self.whole(driver, f"measurement-{name}-dark")

    def test_as_narrow_as_a_phone(self):
        for name in ["one", "two", "hostile"]:
            with self.subTest(name):
                driver = self.show(name, width=390, height=844)
                self.assertLessEqual(driver.execute_script(
                    "return document.documentElement.scrollWidth"), 390)
                for plot in self.elements(driver, "svg.plot"):
                    self.assertGreater(plot.rect["width"], 300)
                self.whole(driver, f"measurement-{name}-narrow")
                self.assert_quiet(driver)

    def test_prints(self):
        driver = self.show("two", dark=True)
        paper = driver.execute_cdp_cmd("Page.printToPDF", {})["data"]
        self.assertGreater(len(paper), 10_000)
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        back = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        self.assertEqual(back, "rgb(255, 255, 255)")
        self.whole(driver, "measurement-print")

    def test_without_scripts_all_is_there(self):
        driver = self.open(os.path.join(PAGES, "one.html"), scripts=False)
        self.assertTrue(self.plot(driver, "Phases").is_displayed())
        self.assertIn("95 % interval", self.section(driver, "Figures").text)
        # Browsers show titles by themselves.
        self.assertTrue(self.mark(driver, 13).find_element(By.TAG_NAME, "title")
                        .get_attribute("textContent").startswith("Launch 13\n"))
        self.element(driver, "#launches summary").click()
        self.assertTrue(self.is_open(driver))


class Safety(MeasurementTest):
    def test_names_are_inert(self):
        driver = self.show("hostile")
        self.assertEqual(self.elements(driver, "img"), [])
        self.assertIn("<img src=x onerr", self.element(driver, "h1").text)
        for plot in self.elements(driver, "svg.plot"):
            self.point(driver, plot)
        self.point(driver, self.mark(driver, 3))
        self.assertIn("<img", self.tip(driver))
        self.assertEqual(self.elements(driver, "img"), [])
        self.whole(driver, "measurement-hostile")
        self.assert_quiet(driver)

    def test_no_request_leaves_the_page(self):
        driver = self.show("two")
        loaded = driver.execute_script(
            "return performance.getEntriesByType('resource').map(entry => entry.name)")
        self.assertEqual(loaded, [])
        # And if a script wanted to, it could not.
        refused = driver.execute_async_script("""
            const done = arguments[0];
            document.addEventListener("securitypolicyviolation", (e) => done(e.effectiveDirective));
            fetch("http://localhost:9/").catch(() => {});""")
        self.assertEqual(refused, "connect-src")


if __name__ == "__main__":
    unittest.main()

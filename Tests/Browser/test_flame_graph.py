"""The flame graph, as a browser shows it."""

import os
import re

import recordings
from browser import BrowserTest, By, screenshot

WIDTH = 1180


def flame_graph(*options):
    """The path of one of Star Searcher's launch."""
    path = os.path.join(recordings.folder(), "-".join(["flames", *options]) + ".svg")
    recordings.run("export", recordings.star_searcher(), "--format", "svg", "-o", path, *options)
    return path


class FlameGraph(BrowserTest):
    FRAMES = """
        return [...document.querySelectorAll(".frame")].map(frame => ({
            told: frame.querySelector("title").textContent,
            label: frame.querySelector("text").textContent,
            x: +frame.getAttribute("x"), y: +frame.getAttribute("y"),
            width: +frame.getAttribute("width"),
            text: frame.querySelector("text").getComputedTextLength(),
            isShown: frame.style.display !== "none" }));
        """

    def frames(self, driver):
        return driver.execute_script(self.FRAMES)

    def click(self, driver, name):
        """On the frame that tells so."""
        frames = driver.find_elements(By.CSS_SELECTOR, ".frame")
        index = next(index for index, frame in enumerate(self.frames(driver))
                     if frame["told"].startswith(name + " ("))
        frames[index].find_element(By.TAG_NAME, "rect").click()
        return index

    def test_is_shown_without_complaint(self):
        for weight in ("cpu", "wall"):
            with self.subTest(weight):
                driver = self.open(flame_graph("--weight", weight))
                self.assertEqual(driver.title, f"starsearcher: {weight} time")
                told = [frame["told"] for frame in self.frames(driver)]
                for name in ("SuperfastLogger::warmUp()", "AppDelegate::didFinishLaunching()"):
                    self.assertTrue(any(text.startswith(name + " (") for text in told), name)
                screenshot(driver, f"flame-graph-{weight}")
                self.assert_quiet(driver)

    def test_every_frame_hangs_from_its_caller(self):
        frames = self.frames(self.open(flame_graph()))
        self.assertGreater(len(frames), 50)
        ground = min(frame["y"] for frame in frames)
        for frame in frames:
            self.assertGreaterEqual(frame["x"], 10 - 0.01)
            self.assertLessEqual(frame["x"] + frame["width"], 10 + WIDTH + 0.02)
            if frame["y"] == ground:
                continue
            above = [other for other in frames if other["y"] == frame["y"] - 18
                     and other["x"] <= frame["x"] + 0.02
                     and other["x"] + other["width"] >= frame["x"] + frame["width"] - 0.02]
            self.assertEqual(len(above), 1, frame)

    def test_widths_are_shares(self):
        for frame in self.frames(self.open(flame_graph())):
            share = float(re.search(r", ([\d.]+) %$", frame["told"])[1])
            self.assertAlmostEqual(frame["width"] / WIDTH * 100, share, delta=0.01)

    def test_labels_fit(self):
        for frame in self.frames(self.open(flame_graph())):
            if frame["label"] != frame["told"].partition(" (")[0]:
                self.assertNotIn(len(frame["label"]), (1, 2, 3))
            # Letters differ in width: what is too long is cut.
            self.assertLess(frame["text"], max(1, frame["width"]) * 1.35, frame)

    def test_zooming_there_and_back(self):
        driver = self.open(flame_graph())
        before = self.frames(driver)
        index = self.click(driver, "SuperfastLogger::warmUp()")
        zoomed = self.frames(driver)
        self.assertAlmostEqual(zoomed[index]["width"], WIDTH, places=3)
        self.assertEqual(zoomed[index]["label"], "SuperfastLogger::warmUp()")
        self.assertLess(sum(frame["isShown"] for frame in zoomed), len(before))
        self.assertIn("SuperfastLogger::warmUp()", self.told(driver))
        screenshot(driver, "flame-graph-zoomed")
        driver.find_element(By.TAG_NAME, "text").click()
        for old, new in zip(before, self.frames(driver)):
            self.assertTrue(new["isShown"])
            self.assertEqual(old["label"], new["label"])
            for key in ("x", "width"):
                self.assertAlmostEqual(old[key], new[key], places=6)
        self.assert_quiet(driver)

    def told(self, driver):
        return driver.find_element(By.ID, "told").text

    def test_tells_what_is_pointed_at(self):
        driver = self.open(flame_graph())
        resting = self.told(driver)
        frame = next(element for element in driver.find_elements(By.CSS_SELECTOR, ".frame")
                     if float(element.get_attribute("width")) > 300)
        self.point(driver, frame.find_element(By.TAG_NAME, "rect"))
        self.assertRegex(self.told(driver), r"\(.*\): .* %$")
        self.point(driver, driver.find_element(By.TAG_NAME, "text"))
        self.assertEqual(self.told(driver), resting)

    def test_works_without_scripts(self):
        driver = self.open(flame_graph(), scripts=False)
        screenshot(driver, "flame-graph-without-scripts")
        self.assertGreater(len(driver.find_elements(By.CSS_SELECTOR, ".frame title")), 50)

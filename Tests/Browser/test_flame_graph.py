"""The flame graph, as a browser shows it."""

import os

import recordings
from browser import BrowserTest, screenshot

def flame_graph(*options):
    """The path of one of Star Searcher's launch."""
    path = os.path.join(recordings.folder(), "-".join(["flames", *options]) + ".svg")
    recordings.run("export", recordings.star_searcher(), "--format", "svg", "-o", path, *options)
    return path


class FlameGraph(BrowserTest):
    def test_is_shown_without_complaint(self):
        driver = self.open(flame_graph())
        self.assertIn("starsearcher", driver.title)
        titles = driver.execute_script(
            "return [...document.querySelectorAll('.frame title')].map(t => t.textContent)")
        self.assertTrue(any("SuperfastLogger::warmUp" in title for title in titles), titles)
        screenshot(driver, "flame-graph")
        self.assert_quiet(driver)

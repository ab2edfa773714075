"""The page of a comparison: what it shows, how it is handled, and that names in it are inert."""

import functools
import os
import re

import recordings
from browser import By, screenshot
from test_page import ActionChains, Keys, PageTest, hostile_recording

PAIRS = ["wallNs", "cpuNs", "mainThreadBlockedNs"]


@functools.cache
def mended():
    """The path of a recording of the mended Star Searcher's launch."""
    path = os.path.join(recordings.folder(), "mended.firstlight")
    program = os.path.join(os.environ["STARS"], "starsearcher-mended")
    recordings.run("record", "--quiet", "-o", path, program)
    return path


def comparison(before, after, name):
    """The path of the page of two recordings."""
    path = os.path.join(recordings.folder(), f"{name}.html")
    recordings.run("compare", "--format", "html", "-o", path, before, after)
    return path


@functools.cache
def page():
    return comparison(recordings.star_searcher(), mended(), "comparison")


@functools.cache
def report():
    return recordings.comparison(recordings.star_searcher(), mended())


def pair(times):
    return [times["before"], times["after"]]


class ComparisonTest(PageTest):
    def show(self, path=None, fragment="", **settings):
        return super().show(path or page(), fragment, **settings)

    def view(self, driver, name):
        return driver.execute_script("return firstlight.view.values[arguments[0]]", name)

    def index(self, phase):
        return [one["name"] for one in report()["phases"]].index(phase)

    def chosen(self, driver):
        """The name of the flame graph's chosen box."""
        return driver.execute_script("return firstlight.flames.chart.chosen?.name ?? null")

    def zoomed(self, driver):
        return driver.execute_script(
            "const {view, layout} = firstlight.flames.chart;"
            "return (view[1] - view[0]) / layout.whole")


class WhatItShows(ComparisonTest):
    def test_the_whole_page(self):
        driver = self.show()
        heading = self.text(driver, "h1")
        self.assertRegex(heading, r"^starsearcher → starsearcher-mended: .* before, .* after, "
                                  r".* faster \(-[\d.]+ %\)$")
        for title in ("Phases", "What accounts for the difference", "Differential flame graph",
                      "Initialisers (timed, not sampled)", "Notes"):
            self.assertIn(title, self.texts(driver, "h2"))
        self.assertEqual(len(self.elements(driver, ".timeline")), 2)
        screenshot(driver, "comparison")
        driver.execute_script("document.querySelector('.changes').scrollIntoView()")
        screenshot(driver, "comparison-flames")
        self.assert_quiet(driver)

    def test_nothing_is_asked_of_the_network(self):
        driver = self.show()
        self.sent(driver, "/", "star", Keys.ENTER)
        loaded = driver.execute_script(
            "return performance.getEntriesByType('resource').map(entry => entry.name)")
        self.assertEqual(loaded, [])
        self.assert_quiet(driver)

    def test_what_is_slow_is_told_in_the_text_s_words(self):
        words = recordings.run("compare", recordings.star_searcher(), mended()).decode()
        verdict = re.search(r"^[\d.]+ m?s faster \(-[\d.]+ %\)$", words, re.MULTILINE)[0]
        driver = self.show()
        self.assertTrue(self.text(driver, "h1").endswith(verdict))
        # The largest change of each phase, where one is large enough.
        largest = [phase["changes"][0]["function"] for phase in report()["phases"]
                   if phase["changes"]]
        shown = driver.execute_script("""
            return [...document.querySelectorAll('.changes > div tbody')].map(
                body => body.rows[0].cells[0].querySelector('[title]').title);""")
        self.assertEqual(shown, largest)

    def test_dark_and_narrow(self):
        for name, settings in (("dark", {"dark": True}), ("narrow", {"width": 400})):
            with self.subTest(name):
                driver = self.show(**settings)
                screenshot(driver, f"comparison-{name}")
                # Only what scrolls by itself is wider than the window.
                self.assertLessEqual(driver.execute_script(
                    "return document.documentElement.scrollWidth - innerWidth"), 0)
                self.assert_quiet(driver)

    def test_without_scripts_it_is_the_text(self):
        driver = self.show_without_scripts()
        self.assertIn("what accounts for", self.text_of(driver))
        screenshot(driver, "comparison-without-scripts")

    def show_without_scripts(self):
        return self.open(page(), scripts=False)

    def text_of(self, driver):
        return driver.find_element(By.TAG_NAME, "pre").text


class Sums(ComparisonTest):
    def test_phases_are_those_of_the_json(self):
        driver = self.show()
        shown = driver.execute_script("""
            const {comparison} = firstlight;
            return [comparison, ...comparison.phases].map(({wall, cpu, blocked}) =>
                [wall, cpu, blocked]);""")
        expected = [[pair(one[name]) for name in PAIRS] for one in [report(), *report()["phases"]]]
        self.assertEqual(shown, expected)

    def test_boxes_are_those_of_the_json(self):
        driver = self.show()
        shown = driver.execute_script("""
            const {functions, phases} = firstlight.comparison;
            return phases.map(({nodes}) => Array.from({length: nodes.count}, (_, i) => [
                nodes.caller[i] < 0 ? null : nodes.caller[i], functions.name[nodes.function[i]],
                functions.module[nodes.function[i]],
                ...["wall", "cpu", "blocked"].flatMap(cost => [nodes.own[cost], nodes.total[cost]]
                    .map(columns => [columns[0][i], columns[1][i]]))]));""")
        names = [kind + cost for cost in ("WallNs", "CpuNs", "BlockedNs")
                 for kind in ("self", "total")]
        expected = [[[node["parent"], node["function"], node["module"],
                      *(pair(node[name]) for name in names)] for node in phase["topDown"]]
                    for phase in report()["phases"]]
        self.assertEqual(shown, expected)

    def test_lines_of_a_phase_add_up_to_its_difference(self):
        driver = self.show()
        for index, phase in enumerate(report()["phases"]):
            shown = driver.execute_script("""
                const phase = firstlight.comparison.phases[arguments[0]];
                return phase.changes.map(({node, wall}) => [node, wall]);""", index)
            self.assertEqual(shown, [[change["node"], pair(change["wallNs"])]
                                     for change in phase["changes"]])
        # What is shown below them is what is missing.
        shown = driver.execute_script("""
            return [...document.querySelectorAll('.changes table')].filter(
                table => table.ariaLabel?.includes('accounts')).length""")
        self.assertEqual(shown, sum(1 for phase in report()["phases"] if phase["changes"]))

    def test_the_graph_is_as_wide_as_the_longer_of_both_and_boxes_stand_below_their_callers(self):
        driver = self.show()
        boxes = driver.execute_script("""
            return firstlight.flames.layout.boxes.map(({from, to, row, wall, own, caller}) =>
                ({from, to, row, wall, own, caller: caller && [caller.from, caller.to, caller.row]}));
            """)
        self.assertGreater(len(boxes), 50)
        for box in boxes:
            # Phases are as wide as their stacks' boxes.
            self.assertGreaterEqual(box["to"] - box["from"], max(box["wall"]) - 1)
            if box["caller"] is not None:
                start, end, row = box["caller"]
                self.assertEqual(box["row"], row + 1)
                self.assertTrue(start <= box["from"] <= box["to"] <= end)

    def test_timelines_are_those_of_the_recordings(self):
        driver = self.show()
        shown = driver.execute_script("""
            return firstlight.comparison.launches.map(({phases, threads}) =>
                [phases.map(({name, wall}) => [name, wall]), threads.map(({tid}) => tid)]);""")
        for launch, recording in zip(shown, (recordings.star_searcher(), mended())):
            told = recordings.report(recording)
            self.assertEqual(launch[0], [[one["name"], one["wallNs"]] for one in told["phases"]])
            self.assertEqual(launch[1], [thread["tid"] for thread in told["threads"]])


class Handling(ComparisonTest):
    def test_a_line_leads_to_its_box(self):
        driver = self.show()
        line = next(row for row in self.elements(driver, ".changes tr.action")
                    if "prewarmDetailViews" in row.text)
        line.click()
        self.assertIn("prewarmDetailViews", self.chosen(driver))
        self.assertLess(self.zoomed(driver), 1)
        self.assertEqual(self.focused(driver).tag_name, "canvas")
        self.assertRegex(self.text(driver, ".flames .caption"),
                         r"\(gone\) · .* before, .* after, -.* · itself ")
        screenshot(driver, "comparison-box")

    def test_the_same_by_keys(self):
        driver = self.show()
        line = next(row for row in self.elements(driver, ".changes tr.action")
                    if "prewarmDetailViews" in row.text)
        driver.execute_script("arguments[0].focus()", line)
        self.sent(driver, Keys.ENTER)
        self.assertIn("prewarmDetailViews", self.chosen(driver))
        self.assertEqual(self.focused(driver).tag_name, "canvas")
        self.sent(driver, Keys.ARROW_UP)
        self.assertNotIn("prewarmDetailViews", self.chosen(driver))
        self.sent(driver, Keys.ESCAPE)
        self.assertIsNone(self.chosen(driver))
        self.assertEqual(self.zoomed(driver), 1)
        self.sent(driver, Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ENTER)
        self.assertLess(self.zoomed(driver), 1)

    def test_a_deep_box_is_scrolled_to(self):
        driver = self.show(height=300)
        seen = driver.execute_script("""
            const {chart, layout} = firstlight.flames;
            const deepest = layout.boxes.reduce((a, b) => b.row > a.row ? b : a);
            chart.choose(deepest);
            const {scrollTop, clientHeight} = chart.frame;
            return [deepest.row * 18 - scrollTop, clientHeight];""")
        self.assertTrue(0 <= seen[0] < seen[1], seen)

    def test_a_box_too_narrow_to_see_is_scrolled_to(self):
        driver = self.show(height=300)
        seen = driver.execute_script("""
            const {chart, layout} = firstlight.flames;
            const deepest = layout.boxes.reduce((a, b) => b.row > a.row ? b : a);
            const narrow = {...deepest, to: deepest.from + layout.whole / 1e6,
                            row: deepest.row + 30};
            layout.boxes.push(narrow);
            chart.choose(narrow);
            const {scrollTop, clientHeight} = chart.frame;
            return [narrow.row * 18 - scrollTop, clientHeight,
                    chart.shown.some(({box}) => box === narrow)];""")
        self.assertTrue(0 <= seen[0] < seen[1], seen)
        self.assertTrue(seen[2])

    def test_a_chosen_box_beside_what_is_zoomed_to_is_shown(self):
        driver = self.show()
        shown = driver.execute_script("""
            const {chart, layout} = firstlight.flames;
            const row = layout.boxes.filter(({row}) => row === 1).sort((a, b) => a.from - b.from);
            chart.zoom(row[0]);
            chart.choose(row[1]);
            return chart.shown.some(({box}) => box === row[1]);""")
        self.assertTrue(shown)

    def test_a_phase_is_chosen_for_both(self):
        driver = self.show()
        button = next(one for one in self.elements(driver, ".timeline .phase")
                      if one.get_attribute("textContent") == "Static initialisers")
        driver.execute_script("arguments[0].click()", button)
        self.assertEqual(self.view(driver, "phase"), self.index("Static initialisers"))
        self.texts(driver, ".phase")
        pressed = [one.get_attribute("textContent")
                   for one in self.elements(driver, ".timeline .phase[aria-pressed=true]")]
        self.assertEqual(pressed, ["Static initialisers"] * 2)
        self.assertEqual(len(self.texts(driver, ".changes h3")), 1)
        self.assertIn("Static initialisers", self.text(driver, ".selection"))
        first = driver.execute_script("return firstlight.flames.layout.boxes[0].name")
        self.assertEqual(first, "Static initialisers")
        self.element(driver, "[data-phase=all]").click()
        self.assertIsNone(self.view(driver, "phase"))

    def test_timelines_by_keys(self):
        driver = self.show()
        driver.execute_script("document.querySelectorAll('.timeline')[1].focus()")
        self.sent(driver, "+")
        zoom = self.view(driver, "zoom")
        # Both show the same stretch of time.
        views = driver.execute_script("return firstlight.timelines.map(one => one.view)")
        self.assertEqual(views, [zoom, zoom])
        self.sent(driver, "0", "]")
        self.assertIsNone(self.view(driver, "zoom"))
        self.assertEqual(self.view(driver, "phase"), 0)
        self.sent(driver, Keys.ESCAPE)
        self.assertIsNone(self.view(driver, "phase"))
        ActionChains(driver).key_down(Keys.SHIFT).send_keys(Keys.ARROW_RIGHT) \
            .key_up(Keys.SHIFT).perform()
        self.assertIsNotNone(self.view(driver, "range"))
        self.assertRegex(self.text(driver, ".selection"), r"to .*: before, main thread .*; after, ")
        self.assert_quiet(driver)

    def test_both_have_one_scale(self):
        driver = self.show()
        longest = max(pair(report()["wallNs"]))
        scales = driver.execute_script(
            "return firstlight.timelines.map(({scale}) => [scale.from, scale.to, scale.width])")
        self.assertEqual(scales[0], scales[1])
        self.assertEqual(scales[0][:2], [0, longest])

    def test_search(self):
        driver = self.show()
        self.sent(driver, "/", "prewarm")
        found = self.text(driver, ".flames .dim")
        self.assertRegex(found, r"^\d+ found: .* before, .* after, -")
        self.sent(driver, Keys.ENTER)
        self.assertIn("prewarm", self.chosen(driver))
        screenshot(driver, "comparison-search")
        self.sent(driver, Keys.ESCAPE)
        self.assertEqual(self.text(driver, ".flames .dim"), "")

    def test_pointing_tells_before_after_and_difference(self):
        driver = self.show()
        canvas = self.element(driver, "canvas.flame")
        driver.execute_script("arguments[0].scrollIntoView()", canvas)
        self.point(driver, canvas)
        driver.execute_script("""
            const canvas = document.querySelector('canvas.flame'), at = canvas.getBoundingClientRect();
            canvas.dispatchEvent(new MouseEvent('mousemove',
                {clientX: at.left + at.width / 2, clientY: at.top + 30}));""")
        told = self.text(driver, "#tip")
        self.assertRegex(told, r"before, .* after, ")
        self.assertIn("itself", told)

    def test_the_address_keeps_the_view(self):
        driver = self.show(fragment=f"phase={self.index('Main')}&search=stars")
        self.assertEqual(self.view(driver, "phase"), self.index("Main"))
        self.assertEqual(self.view(driver, "search"), "stars")
        driver = self.show(fragment="phase=99&zoom=x&range=5-1&tab=<b>")
        self.assertIsNone(self.view(driver, "phase"))
        self.assertIsNone(self.view(driver, "zoom"))
        self.assert_quiet(driver)

    def test_a_recording_and_itself(self):
        path = comparison(mended(), mended(), "same")
        driver = self.show(path)
        self.assertTrue(self.text(driver, "h1").endswith("no difference"))
        self.assertIn("nothing here changed by", self.text(driver, ".changes"))
        self.assert_quiet(driver)


class Safety(ComparisonTest):
    def test_names_are_inert(self):
        driver = self.show(comparison(mended(), hostile_recording(), "hostile-comparison"))
        names = " ".join(driver.execute_script("return firstlight.comparison.functions.name"))
        self.assertIn("</script><img src=x onerror=own()>", names)
        self.assertIn("<img src=x onerror=own()>", self.text(driver, "h1"))
        self.assertTrue(any("</script><img" in text for text in self.texts(driver, ".changes td")))
        self.assertEqual(self.elements(driver, "img"), [])
        screenshot(driver, "comparison-hostile")
        self.assert_quiet(driver)

    def test_no_request_can_leave_the_page(self):
        driver = self.show()
        refused = driver.execute_async_script("""
            const done = arguments[0];
            document.addEventListener("securitypolicyviolation", (e) => done(e.effectiveDirective));
            fetch("http://localhost:9/").catch(() => {});""")
        self.assertEqual(refused, "connect-src")

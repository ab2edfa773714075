"""The report as a page: what it shows, how it is handled, and that names in it are inert."""

import os
import re
import subprocess
import time
import unittest

import recordings
from browser import BrowserTest, By, screenshot

try:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
except ImportError:
    ActionChains = Keys = None


def page(recording=None, name="page", *options):
    """The path of a recording's page; Star Searcher's if there is no other."""
    path = os.path.join(recordings.folder(), f"{name}.html")
    recordings.run("report", recording or recordings.star_searcher(), "--format", "html",
                   "-o", path, *options)
    return path


class PageTest(BrowserTest):
    def show(self, path=None, fragment="", **settings):
        """The page, when it is ready to be used."""
        driver = self.open(path or page(), fragment, **settings)
        self.until(lambda: driver.execute_script(
            "return document.documentElement.dataset.ready"))
        return driver

    def until(self, condition):
        end = time.monotonic() + 20
        while not condition():
            self.assertLess(time.monotonic(), end, "it did not come")
            time.sleep(0.02)

    def element(self, driver, selector):
        return driver.find_element(By.CSS_SELECTOR, selector)

    def elements(self, driver, selector):
        return driver.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, driver, selector):
        """Of all such elements, once what is asked for is shown: with the next picture at latest."""
        return driver.execute_async_script("""
            const [selector, done] = arguments;
            requestAnimationFrame(() => requestAnimationFrame(() => done(
                [...document.querySelectorAll(selector)].map(e => e.textContent))));""", selector)

    def text(self, driver, selector):
        return self.texts(driver, selector)[0]

    def phase(self, driver, name):
        """Its button in the timeline."""
        return next(button for button in self.elements(driver, ".phase")
                    if button.get_attribute("textContent") == name)

    def tabs(self, driver):
        """The names of all tabs."""
        names = [button.get_attribute("id").removeprefix("tab-")
                 for button in self.elements(driver, "[role=tab]")]
        self.assertIn("heaviest", names)
        return names

    def tab(self, driver, name):
        self.element(driver, f"#tab-{name}").click()

    def state(self, driver, name):
        return driver.execute_script("return firstlight.state.values[arguments[0]]", name)

    def sent(self, driver, *keys):
        """Keys, to whatever has the focus."""
        ActionChains(driver).send_keys(*keys).perform()

    def focused(self, driver):
        return driver.switch_to.active_element


class WhatItShows(PageTest):
    def test_it_opens_on_the_summary(self):
        driver = self.show()
        self.assertEqual(self.state(driver, "tab"), "answer")
        report = recordings.report(recordings.star_searcher())
        titles = [title.split(": ", 1)[1] for title in self.texts(driver, ".answer .findings h3")]
        self.assertEqual(titles, [finding["title"] for finding in report["findings"]])
        phases = self.texts(driver, ".answer tbody tr td:first-child, .answer tbody th")
        for phase in report["phases"]:
            self.assertIn(phase["name"], phases)
        summary = subprocess.run([recordings.FIRSTLIGHT, "report", recordings.star_searcher()],
                                 capture_output=True, text=True, check=True).stdout
        caption = self.text(driver, ".answer .heaviest .caption")
        self.assertIn(caption.split(",")[0] + ",", summary)
        self.assertTrue(self.elements(driver, ".answer .stack li"))
        self.assert_quiet(driver)

    def test_the_phase_before_main_leads_to_the_logger(self):
        driver = self.show(page(None, "source", "--embed-source", "--source-root", "/"))
        screenshot(driver, "page")
        self.phase(driver, "Static initialisers").click()
        names = self.texts(driver, ".stack .name")
        self.assertIn("SuperfastLogger::warmUp()", names)
        self.assertIn("Static initialisers", self.text(driver, ".selection"))
        self.assertTrue(any("trainDictionary" in line for line in self.texts(driver, ".stack .source")))
        screenshot(driver, "page-phase")
        self.assert_quiet(driver)

    def test_heaviest_stacks_are_those_of_the_report(self):
        driver = self.show()
        for index, phase in enumerate(recordings.report(recordings.star_searcher())["phases"]):
            # What changes in quick succession is shown with the next picture.
            functions = driver.execute_async_script("""
                const [phase, done] = arguments;
                firstlight.state.select({phase});
                requestAnimationFrame(() => requestAnimationFrame(() => done(
                    [...document.querySelectorAll('.stack li')]
                        .map(e => firstlight.launch.functions.name[e.dataset.function]))));""",
                index)
            expected = [frame["function"] for frame in phase["heaviestStack"]]
            self.assertEqual(functions, expected, phase["name"])

    def test_sums_are_those_of_the_report(self):
        driver = self.show(fragment="tab=threads")
        report = recordings.report(recordings.star_searcher())
        states = ["runningNs", "runnableNs", "preemptedNs", "blockedNs"]
        shown = driver.execute_script("""
            const {launch} = firstlight;
            return launch.threads.map(thread => thread.stretches.times.map(
                times => times.reduce((a, b) => a + b, 0)));""")
        self.assertEqual(shown, [[thread[state] for state in states]
                                 for thread in report["threads"]])
        cpu = driver.execute_script("""
            const {launch} = firstlight, sums = launch.phases.map(() => 0);
            for (const {stretches} of launch.threads) for (let i = 0; i < stretches.count; i++)
                sums[stretches.phase[i]] += stretches.times[0][i];
            return sums;""")
        self.assertEqual(cpu, [phase["cpuNs"] for phase in report["phases"]])

    def test_functions_by_their_own_time_are_those_of_the_report(self):
        driver = self.show(fragment="tab=tree&inverted=true")
        functions = recordings.report(recordings.star_searcher())["functions"]
        expected = {}
        for function in functions:
            if function["selfCpuNs"] > 0:
                key = function["function"] + " " + function["module"]
                expected[key] = expected.get(key, 0) + function["selfCpuNs"]
        shown = driver.execute_script("""
            const {launch} = firstlight, sums = {};
            for (const row of document.querySelectorAll('.tree tbody tr')) {
                if (row.getAttribute('aria-level') !== '1') continue;
                const {function: f, own} = row.line.branch;
                const key = `${launch.functions.name[f]} ${launch.functions.module[f]}`;
                sums[key] = (sums[key] ?? 0) + own;
            }
            return sums;""")
        self.assertEqual(shown, expected)

    def test_every_tab_shows_something(self):
        driver = self.show()
        for tab in self.elements(driver, "[role=tab]"):
            tab.click()
            self.assertEqual(tab.get_attribute("aria-selected"), "true")
            self.assertNotEqual(self.text(driver, "#panel").strip(), "", tab.text)
            screenshot(driver, "page-" + tab.get_attribute("id"))
        self.assert_quiet(driver)

    def test_findings_lead_to_their_time(self):
        driver = self.show(fragment="tab=findings")
        found = recordings.report(recordings.star_searcher())["findings"]
        self.assertGreater(len(found), 0)
        self.assertEqual(len(self.texts(driver, ".findings h3")), len(found))
        self.element(driver, ".findings button").click()
        title = self.texts(driver, ".selection strong")[0]
        self.assertIn("main thread", title)
        finding = driver.execute_script("return firstlight.launch.findings[0]")
        self.assertEqual(self.state(driver, "range"), [finding["start"], finding["end"]])
        self.assertEqual(self.state(driver, "tab"), "heaviest")

    def test_hovering_tells_the_state_and_who_ended_it(self):
        driver = self.show()
        wait = max(driver.execute_script("return firstlight.launch.waits"),
                   key=lambda wait: wait["wall"])
        thread = self.element(driver, f"[data-lane=thread{wait['thread']}] .track")
        wall = driver.execute_script("return firstlight.launch.wall")
        middle = (wait["start"] + wait["wall"] / 2) / wall - 0.5
        ActionChains(driver).move_to_element_with_offset(
            thread, int(middle * thread.size["width"]), 0).perform()
        told = self.text(driver, "#tip")
        self.assertIn("blocked for", told)
        self.assertIn(wait["reason"], told)
        self.assertIn("ended by", told)
        screenshot(driver, "page-hover")


class Handling(PageTest):
    def test_wheel_zooms_and_pans(self):
        driver = self.show()
        wall = driver.execute_script("return firstlight.launch.wall")
        lane = self.element(driver, ".lanes .track")
        self.wheel(driver, lane, 0, -400, "ctrlKey")
        first = self.state(driver, "zoom")
        self.assertLess(first[1] - first[0], wall)
        self.wheel(driver, lane, 300, 0)
        second = self.state(driver, "zoom")
        self.assertGreater(second[0], first[0])
        self.assertAlmostEqual(second[1] - second[0], first[1] - first[0], delta=2)
        for _ in range(60):
            self.wheel(driver, lane, 0, -400, "ctrlKey")
        least = self.state(driver, "zoom")
        self.assertGreater(least[1] - least[0], 0)
        for _ in range(80):
            self.wheel(driver, lane, 0, 400, "ctrlKey")
        self.assertIsNone(self.state(driver, "zoom"))
        self.assert_quiet(driver)

    def wheel(self, driver, element, x, y, modifier=None):
        driver.execute_script("""
            const [element, deltaX, deltaY, modifier] = arguments;
            const box = element.getBoundingClientRect();
            element.dispatchEvent(new WheelEvent("wheel", {deltaX, deltaY, bubbles: true,
                cancelable: true, clientX: box.left + box.width / 2, clientY: box.top + 4,
                ...(modifier ? {[modifier]: true} : {})}));""", element, x, y, modifier)

    def test_a_drag_selects_and_one_on_the_ruler_pans(self):
        driver = self.show()
        lane = self.element(driver, "[data-lane=thread0] .track")
        ActionChains(driver).move_to_element_with_offset(lane, -200, 0).click_and_hold() \
            .move_by_offset(100, 0).move_by_offset(100, 0).release().perform()
        chosen = self.state(driver, "range")
        wall = driver.execute_script("return firstlight.launch.wall")
        part = (chosen[1] - chosen[0]) / wall * lane.size["width"]
        self.assertAlmostEqual(part, 200, delta=3)
        self.assertTrue(self.element(driver, ".selected").is_displayed())
        self.sent(driver, "z")
        driver.execute_script("firstlight.timeline.element.focus()")
        self.sent(driver, "z")
        self.assertEqual([round(edge) for edge in self.state(driver, "zoom")],
                         [round(edge) for edge in chosen])
        before = self.state(driver, "zoom")
        ruler = self.element(driver, ".ruler")
        ActionChains(driver).move_to_element(ruler).click_and_hold() \
            .move_by_offset(50, 0).release().perform()
        self.assertLess(self.state(driver, "zoom")[0], before[0])
        self.sent(driver, Keys.ESCAPE)
        self.assertIsNone(self.state(driver, "range"))

    def test_keys_alone_do_all(self):
        driver = self.show()
        self.until_focus(driver, "section.timeline")
        self.sent(driver, "]", "]")
        self.assertEqual(self.state(driver, "phase"), 1)
        self.sent(driver, "[")
        self.assertEqual(self.state(driver, "phase"), 0)
        self.sent(driver, "+", "+", Keys.ARROW_RIGHT)
        zoomed = self.state(driver, "zoom")
        self.assertIsNotNone(zoomed)
        self.sent(driver, "0", Keys.ESCAPE)
        self.assertIsNone(self.state(driver, "zoom"))
        self.assertIsNone(self.state(driver, "phase"))
        ActionChains(driver).key_down(Keys.SHIFT).send_keys(Keys.ARROW_RIGHT) \
            .key_up(Keys.SHIFT).perform()
        self.assertIsNotNone(self.state(driver, "range"))
        self.sent(driver, Keys.ESCAPE)
        # A phase's own button, a tab, and a tree.
        self.until_focus(driver, "button.phase")
        self.sent(driver, Keys.ENTER)
        self.assertEqual(self.state(driver, "phase"), 0)
        self.sent(driver, Keys.ENTER)
        self.assertIsNone(self.state(driver, "phase"))
        self.until_focus(driver, "[role=tab]")
        self.sent(driver, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        self.assertEqual(self.state(driver, "tab"), "tree")
        self.until_focus(driver, ".tree tr")
        self.sent(driver, Keys.ARROW_DOWN)
        row = self.focused(driver)
        self.assertEqual(row.get_attribute("aria-selected"), "true")
        isOpen = row.get_attribute("aria-expanded") == "true"
        self.sent(driver, Keys.ARROW_LEFT if isOpen else Keys.ARROW_RIGHT)
        self.assertEqual(self.focused(driver).get_attribute("aria-expanded"),
                         "false" if isOpen else "true")
        self.sent(driver, "f")
        self.assertIsNotNone(self.state(driver, "focus"))
        # Who goes by keys stays where they were.
        self.until(lambda: driver.execute_script(
            "return document.querySelector('#panel').contains(document.activeElement)"))
        self.assert_quiet(driver)

    def until_focus(self, driver, selector):
        """As often Tab as it takes."""
        for _ in range(200):
            if driver.execute_script(
                    "return document.activeElement.matches(arguments[0])", selector):
                return
            self.sent(driver, Keys.TAB)
        self.fail(f"Tab does not lead to {selector}")

    def test_search_opens_what_leads_to_a_function(self):
        driver = self.show()
        self.sent(driver, "/")
        self.sent(driver, "WARMUP")
        self.assertIn("SuperfastLogger::warmUp()", self.texts(driver, ".tree tr.match .name"))
        self.assertNotIn("FrameBuilder", " ".join(self.texts(driver, ".tree .name")))
        screenshot(driver, "page-search")
        for _ in "WARMUP":
            self.sent(driver, Keys.BACKSPACE)
        self.sent(driver, "no such function")
        self.assertIn("nothing with this name", self.text(driver, ".tree"))
        self.assert_quiet(driver)

    def test_search_takes_keys_before_the_next_picture_too(self):
        driver = self.show()
        # As if the page had just drawn its details: it draws them again with the next picture.
        driver.execute_script("firstlight.filled = performance.now() + 60000")
        self.sent(driver, "/", "warm")
        self.assertEqual(self.state(driver, "search"), "warm")
        self.assertEqual(self.state(driver, "tab"), "tree")

    def test_system_libraries_can_be_hidden_and_no_time_is_lost(self):
        driver = self.show(fragment="tab=tree")
        whole = "return firstlight.state && document.querySelector('.tree') && " \
            "[...document.querySelectorAll('.tree tbody tr')].filter(r => " \
            "r.getAttribute('aria-level') === '1').reduce((s, r) => s + r.line.branch.total, 0)"
        before = driver.execute_script(whole)
        self.element(driver, "[name=ownOnly]").click()
        self.assertAlmostEqual(driver.execute_script(whole), before, delta=10)
        modules = set(self.texts(driver, ".tree .module"))
        self.assertFalse([module for module in modules if module.startswith("libc.so")], modules)

    def test_lanes_can_be_pinned_and_hidden(self):
        driver = self.show()
        driver.execute_script("document.querySelector('[data-lane=thread1] .pin').click()")
        self.assertEqual(len(self.elements(driver, ".head [data-lane=thread1]")), 1)
        driver.execute_script("document.querySelector('[data-lane=thread0] .hide').click()")
        self.assertEqual(self.elements(driver, "[data-lane=thread0]"), [])
        self.element(driver, ".hidden-note button").click()
        self.assertEqual(len(self.elements(driver, "[data-lane=thread0]")), 1)

    def test_the_address_keeps_the_view(self):
        driver = self.show()
        self.phase(driver, "Main").click()
        self.tab(driver, "flame")
        self.until(lambda: "tab=flame" in driver.current_url)
        fragment = driver.current_url.split("#")[1]
        other = self.show(fragment=fragment)
        self.assertEqual(self.state(other, "tab"), "flame")
        self.assertEqual(self.state(other, "phase"), self.state(driver, "phase"))

    def test_the_address_is_not_changed_at_every_turn_of_a_wheel(self):
        driver = self.show()
        changes = driver.execute_script("""
            let changes = 0;
            const change = history.replaceState;
            history.replaceState = (...words) => { changes += 1; change.apply(history, words); };
            for (let i = 0; i < 500; i++) firstlight.timeline.zoomBy(i % 2 ? 0.5 : 2);
            return changes;""")
        self.assertEqual(changes, 0)
        driver.execute_script("firstlight.timeline.zoomBy(0.5)")
        self.until(lambda: "zoom=" in driver.current_url)
        self.assert_quiet(driver)

    def test_an_address_that_makes_no_sense_is_left_out(self):
        driver = self.show(fragment="phase=99999&range=9-1&zoom=abc&tab=%3Cscript%3E&weight=x"
                           "&thread=-1&focus=1e9&hidden=<img>&interval=0x1&search=%00")
        self.assertIsNone(self.state(driver, "phase"))
        self.assertIsNone(self.state(driver, "range"))
        self.assertEqual(self.state(driver, "hidden"), [])
        self.assertIn("The whole launch", self.text(driver, ".selection"))
        self.assert_quiet(driver)

    def test_flames_can_be_gone_into(self):
        driver = self.show(fragment="tab=flame")
        driver.execute_script("""
            const canvas = document.querySelector("canvas.flame");
            const box = canvas.getBoundingClientRect();
            canvas.dispatchEvent(new MouseEvent("click", {bubbles: true,
                clientX: box.left + box.width / 4, clientY: box.top + 8}));""")
        self.assertIn("%", self.text(driver, ".flames .caption"))
        driver.execute_script("document.querySelector('canvas.flame').focus()")
        self.sent(driver, Keys.ARROW_DOWN, Keys.ENTER, Keys.ESCAPE)
        self.assertIn("in all", self.text(driver, ".flames .caption"))
        self.assert_quiet(driver)


class Imports(PageTest):
    """Of a Python program: outer_module imports inner_module, which works twice as long."""

    def show_imports(self, fragment=""):
        return self.show(page(recordings.python_imports(), "imports"), fragment)

    def imported(self, driver, name):
        """The longest one of a module."""
        runs = driver.execute_script("return firstlight.launch.imports")
        return max((run for run in runs if run["name"] == name), key=lambda run: run["wall"])

    def test_what_was_brought_lies_within(self):
        driver = self.show_imports()
        runs = driver.execute_script("return firstlight.launch.imports")
        for run in runs:
            self.assertGreaterEqual(run["wall"], run["ownWall"])
            self.assertGreaterEqual(run["cpu"], run["ownCPU"])
            if run["parent"] is not None:
                parent = runs[run["parent"]]
                self.assertLessEqual(parent["start"], run["start"])
                self.assertGreaterEqual(parent["end"], run["end"])
        for index, run in enumerate(runs):
            brought = sum(inner["wall"] for inner in runs if inner["parent"] == index)
            self.assertEqual(run["wall"], run["ownWall"] + brought)
        inner = self.imported(driver, "inner_module")
        self.assertEqual(runs[inner["parent"]]["name"], "outer_module")
        self.assertTrue(inner["file"].endswith("/inner_module.py"))

    def test_the_lane_stands_above_its_thread_and_tells(self):
        driver = self.show_imports()
        inner = self.imported(driver, "inner_module")
        lanes = driver.execute_script(
            "return [...document.querySelectorAll('[data-lane]')].map(e => e.dataset.lane)")
        thread = inner["thread"]
        self.assertEqual(lanes.index(f"imports{thread}") + 1, lanes.index(f"thread{thread}"))
        self.point_at(driver, inner).perform()
        told = self.text(driver, "#tip")
        for text in ("import inner_module", "/inner_module.py", "wall ", "CPU ", "outer_module"):
            self.assertIn(text, told)
        screenshot(driver, "page-imports")
        self.point_at(driver, inner).click().perform()
        self.assertEqual(self.state(driver, "imported"), inner["index"])
        self.assertIn("Import of “inner_module”", self.text(driver, ".selection strong"))
        names = self.texts(driver, ".stack .name")
        self.assertIn("import inner_module", names)
        self.assert_quiet(driver)

    def point_at(self, driver, run):
        track = self.element(driver, f"[data-lane=imports{run['thread']}] .track")
        wall = driver.execute_script("return firstlight.launch.wall")
        middle = ((run["start"] + run["wall"] / 2) / wall - 0.5) * track.size["width"]
        row = 16 * run["depth"] + 8 - track.size["height"] / 2
        return ActionChains(driver).move_to_element_with_offset(track, int(middle), int(row))

    def test_the_table_goes_by_keys(self):
        driver = self.show_imports("tab=imports")
        names = self.texts(driver, ".list tbody .name")
        outer, inner = names.index("outer_module"), names.index("inner_module")
        self.assertEqual(inner, outer + 1)
        row = self.elements(driver, ".list tbody tr")[inner]
        self.assertIn("inner_module.py", row.text)
        driver.execute_script("arguments[0].focus()", row)
        self.sent(driver, Keys.ENTER)
        chosen = self.imported(driver, "inner_module")
        self.assertEqual(self.state(driver, "imported"), chosen["index"])
        self.sent(driver, Keys.ESCAPE)
        self.until(lambda: self.state(driver, "imported") is None)
        screenshot(driver, "page-imports-table")
        self.assert_quiet(driver)

    def test_the_address_keeps_it(self):
        driver = self.show_imports("imported=0&tab=imports")
        self.assertEqual(self.state(driver, "imported"), 0)
        driver = self.show_imports("imported=99999")
        self.assertIsNone(self.state(driver, "imported"))

    def test_boxes_of_scripts_tell_their_lines(self):
        driver = self.show_imports("tab=flame")
        self.element(driver, "canvas.flame").click()
        driver.execute_script("document.querySelector('canvas.flame').focus()")
        for _ in range(40):
            told = self.text(driver, ".flames .caption")
            if re.search(r"\.py(:\d+)?, Python", told):
                break
            self.sent(driver, Keys.ARROW_DOWN)
        self.assertRegex(told, r"\.py(:\d+)?, Python")
        screenshot(driver, "page-python-flames")


class Looks(PageTest):
    def test_dark_and_narrow(self):
        driver = self.show(width=1024, dark=True)
        back = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        self.assertLess(max(map(int, re.findall(r"\d+", back)[:3])), 60, back)
        for tab in self.tabs(driver):
            self.tab(driver, tab)
            self.assertLessEqual(driver.execute_script(
                "return document.documentElement.scrollWidth"), 1024, tab)
        screenshot(driver, "page-dark")

    def test_prints(self):
        driver = self.show()
        paper = driver.execute_cdp_cmd("Page.printToPDF", {})["data"]
        self.assertGreater(len(paper), 10_000)
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        self.assertFalse(self.element(driver, ".tools").is_displayed())
        self.assertTrue(self.element(driver, ".stack").is_displayed())
        screenshot(driver, "page-print")

    def test_without_scripts_there_is_a_summary(self):
        driver = self.open(page(), scripts=False)
        self.assertIn("Static initialisers", self.element(driver, "pre").text)


class Safety(PageTest):
    def test_names_are_inert(self):
        driver = self.show(page(hostile_recording(), "hostile"))
        for tab in self.tabs(driver):
            self.tab(driver, tab)
        self.tab(driver, "tree")
        names = " ".join(driver.execute_script("return firstlight.launch.functions.name"))
        self.assertIn("</script><img src=x onerror=own()>", names)
        self.assertIn("</script><img", self.text(driver, "#panel"))
        self.assertEqual(self.elements(driver, "img"), [])
        self.assertIn("<img src=x onerror=own()>", self.text(driver, "h1"))
        screenshot(driver, "page-hostile")
        self.assert_quiet(driver)

    def test_no_request_leaves_the_page(self):
        path = page()
        driver = self.show(path)
        for tab in self.elements(driver, "[role=tab]"):
            tab.click()
        loaded = driver.execute_script(
            "return performance.getEntriesByType('resource').map(entry => entry.name)")
        self.assertEqual(loaded, [])
        # And if a script wanted to, it could not.
        refused = driver.execute_async_script("""
            const done = arguments[0];
            document.addEventListener("securitypolicyviolation", (e) => done(e.effectiveDirective));
            fetch("http://localhost:9/").catch(() => {});""")
        self.assertEqual(refused, "connect-src")


def hostile_recording():
    """Of a program that is called by a tag, with a function and a thread that are."""
    folder = recordings.folder()
    name = "</script><img src=x onerror=own()>"
    source = os.path.join(folder, "hostile.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("""
            #include <sys/prctl.h>
            #include <time.h>
            __attribute__((noinline)) void hostile(void) {
                struct timespec now;
                do { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); }
                while (now.tv_sec == 0 && now.tv_nsec < 200000000);
            }
            int main(void) { prctl(PR_SET_NAME, "<img src=x>"); hostile(); return 0; }
            """)
    program = os.path.join(folder, "<img src=x onerror=own()>")
    subprocess.run(["gcc", "-O0", "-o", program, source], check=True)
    subprocess.run(["objcopy", "--redefine-sym", f"hostile={name}", program], check=True)
    path = os.path.join(folder, "hostile.firstlight")
    recordings.run("record", "--quiet", "-o", path, program)
    return path


if __name__ == "__main__":
    unittest.main()

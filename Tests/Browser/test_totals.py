"""What a selection has of each stack, by the page's own modules, in Node."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

PAGE = os.path.join(os.path.dirname(__file__), "../../Sources/Report/HTML/Page")

# One thread: 10 ns of stack 0 at the beginning, and 10 at 40; 20 of stack 1 somewhere from 5 to 45.
THREAD = {
    "tid": 1, "name": "main", "isMain": True, "process": 0, "start": 0, "end": 50, "priority": "",
    "runs": {"gap": [], "length": [], "state": []},
    "stretches": {
        "gap": [0, 30], "phase": [0, 0], "running": [10, 10], "runnable": [0, 0],
        "preempted": [0, 0], "blocked": [0, 0], "stack": [0, 0], "wait": [0, 0]},
    "scattered": {
        "start": [5], "length": [40], "phase": [1], "running": [20], "runnable": [0],
        "preempted": [0], "blocked": [10], "stack": [1], "wait": [0]}}
LAUNCH = {
    "phases": [], "threads": [THREAD], "initializers": [], "intervals": [], "waits": [],
    "children": [], "files": [], "imports": {"name": []},
    "functions": {"name": ["a"], "short": {}, "module": [0], "own": [1], "languages": [],
                  "language": [-1], "scripted": [0]},
    "frames": {"function": [0], "file": [-1], "line": [0], "inlined": [0]},
    "nodes": {"caller": [0, 0], "frame": [0, 0]}}

SCRIPT = """
import { decode } from "./launch.js";
import { ownTimes } from "./totals.js";
const [raw, selections] = JSON.parse(process.argv[2]);
const launch = decode(raw);
console.log(JSON.stringify(selections.map((selection) =>
  [...ownTimes(launch, selection, "cpu").own])));
"""


@unittest.skipIf(not shutil.which("node") and os.environ.get("CI") != "true", "there is no node")
class Totals(unittest.TestCase):
    def own(self, *selections):
        with tempfile.TemporaryDirectory() as folder:
            for name in os.listdir(PAGE):
                if name.endswith(".js"):
                    shutil.copy(os.path.join(PAGE, name), folder)
            for name, text in (("package.json", '{"type": "module"}'), ("main.js", SCRIPT)):
                with open(os.path.join(folder, name), "w") as file:
                    file.write(text)
            whole = [{"phase": None, "range": None, "threads": None, **selection}
                     for selection in selections]
            printed = subprocess.run(
                ["node", os.path.join(folder, "main.js"), json.dumps([LAUNCH, whole])],
                check=True, stdout=subprocess.PIPE, timeout=60).stdout
        return json.loads(printed)

    def test_all_is_all(self):
        self.assertEqual(self.own({}), [[20, 20]])
        self.assertEqual(self.own({"phase": 0}, {"phase": 1}), [[20, 0], [0, 20]])
        self.assertEqual(self.own({"range": [0, 50]}), [[20, 20]])

    def test_scattered_time_is_where_nothing_else_is(self):
        # The free time of its part is from 10 to 40.
        self.assertEqual(
            self.own({"range": [0, 10]}, {"range": [10, 40]}, {"range": [40, 50]}),
            [[10, 0], [0, 20], [10, 0]])

    def test_ranges_add_up(self):
        borders = [0, 3, 7, 10, 12, 25, 40, 44, 45, 50]
        parts = self.own(*({"range": list(pair)} for pair in zip(borders, borders[1:])))
        for stack in (0, 1):
            self.assertAlmostEqual(sum(part[stack] for part in parts), 20)
        for (start, end), part in zip(zip(borders, borders[1:]), parts):
            self.assertLessEqual(sum(part), end - start + 1e-9)


if __name__ == "__main__":
    unittest.main()

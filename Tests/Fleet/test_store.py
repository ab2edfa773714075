"""Questions to ClickHouse's engine are answered as if they were asked of the files, and those of a
server that lies with an error."""

import http.server
import json
import os
import random
import statistics
import struct
import subprocess
import threading
import unittest

import clickhouse
import fleet
from store import (
    VERSIONS, by_date, files, folder, measurements, needs_ship, recordings, reported, told)
from test_front import needs_engine


@needs_engine
@needs_ship
class Questions(unittest.TestCase):
    """The store says what the files say."""

    @classmethod
    def setUpClass(cls):
        cls.server = clickhouse.server_for(cls)
        cls.url = cls.server.url("d")
        # One by one and in no order: the answer does not depend on it.
        paths = files()
        random.Random(2).shuffle(paths)
        told("ship", "--to", cls.url, "--create-tables")
        for path in paths:
            told("ship", "--to", cls.url, path)

    def answers(self, command, *words):
        return json.loads(told(command, "--format", "json", *words)[0])

    def test_history(self):
        for words in [(), ("--by", "day"), ("--goal", "1ms")]:
            self.assertEqual(self.answers("history", *words, "--from", self.url),
                             self.answers("history", *words, *by_date(measurements())))

    def test_history_of_a_program(self):
        of_true = [path for path in measurements()
                   if reported(path)["program"]["name"] == "true"]
        self.assertLess(len(of_true), len(measurements()))
        self.assertEqual(self.answers("history", "--from", self.url, "true"),
                         self.answers("history", *by_date(of_true)))

    def assert_same(self, one, other, place=()):
        """Numbers exactly. A margin comes from a sum of squares, which the engine adds up in
        another order, and in floating-point numbers: it may be off by its last digit."""
        if isinstance(one, dict) and isinstance(other, dict):
            self.assertEqual(set(one), set(other), place)
            for key in one:
                self.assert_same(one[key], other[key], (*place, key))
        elif isinstance(one, list) and isinstance(other, list):
            self.assertEqual(len(one), len(other), place)
            for index, pair in enumerate(zip(one, other)):
                self.assert_same(*pair, (*place, index))
        elif place[-1:] == ("margin",) and None not in (one, other):
            self.assertAlmostEqual(one, other, delta=1, msg=place)
        else:
            self.assertEqual(one, other, place)

    def test_top(self):
        for words in [(), ("--phase", "Main")]:
            self.assert_same(self.answers("top", *words, "--from", self.url),
                             self.answers("top", *words, *recordings()))

    def test_top_of_a_program(self):
        self.assert_same(
            self.answers("top", "--from", self.url, "cat"),
            self.answers("top", *(path for path in recordings() if "cat" in path)))


    def compared(self, *words):
        return self.answers("compare", "--from", self.url, *words)

    def version(self, name):
        return os.path.join(folder(), f"true-{name}.firstlight")

    def assert_same_difference(self, one, other, place):
        """Times exactly; a share, which comes from logarithms there and from a ratio here, may be off
        by the last digit that is printed."""
        self.assertEqual(set(one), set(other), place)
        for key in one:
            if key in ("change", "low", "high") and None not in (one[key], other[key]):
                self.assertAlmostEqual(one[key], other[key], delta=1.5e-6, msg=(place, key))
            else:
                self.assertEqual(one[key], other[key], (place, key))

    def test_compare(self):
        """Of one measurement each it says what the files say."""
        for names in [("1.0", "1.1"), ("1.1", "1.0")]:
            for words in [(), ("--machines", "each")]:
                answer = self.compared(*words, "true", *names)
                self.assertEqual([answer["before"], answer["after"]], list(names))
                found, = answer["comparisons"]
                known = self.answers("compare", *map(self.version, names))
                for field in ("verdict", "intervalNs", "mismatches", "interleaved"):
                    self.assertEqual(found[field], known[field], field)
                self.assert_same_difference(found["launch"], known["launch"], "launch")
                self.assertEqual([phase["name"] for phase in found["phases"]],
                                 [phase["name"] for phase in known["phases"]])
                for one, other in zip(found["phases"], known["phases"]):
                    self.assert_same_difference(
                        one["difference"], other["difference"], one["name"])
                self.assertFalse(found["thinned"])
                self.assertEqual(answer["leftOut"], {"launchesBefore": 0, "launches": 0})

    def counted(self, *paths):
        return [launch for path in paths for launch in reported(path)["launches"]
                if launch["arm"] == 0 and launch["discarded"] is None]

    def assert_difference(self, found, before, after):
        """The median of all differences, as a list of them gives it."""
        self.assertEqual([found["launchesBefore"], found["launches"]], [len(before), len(after)])
        self.assertAlmostEqual(found["medianBeforeNs"], statistics.median(before), delta=1)
        self.assertAlmostEqual(found["medianNs"], statistics.median(after), delta=1)
        middle = statistics.median(new - old for new in after for old in before)
        self.assertAlmostEqual(found["differenceNs"], middle, delta=1)

    def test_compare_of_several_measurements(self):
        found, = self.compared("true", "1.0", "1.2")["comparisons"]
        before = self.counted(self.version("1.0"))
        after = self.counted(self.version("1.2"), os.path.join(folder(), "against.firstlight"))
        self.assertEqual([found["before"]["sessions"], found["after"]["sessions"]], [1, 2])

        def walls(launches, name=None):
            return [sum(phase["wallNs"] for phase in launch["phases"] if phase["name"] == name)
                    if name else launch["wallNs"] for launch in launches]
        self.assert_difference(found["launch"], walls(before), walls(after))
        self.assertTrue(found["phases"])
        for phase in found["phases"]:
            self.assert_difference(
                phase["difference"], walls(before, phase["name"]), walls(after, phase["name"]))

    def test_compare_as_text(self):
        output, errors = told("compare", "--from", self.url, *VERSIONS)
        self.assertEqual(errors, "")
        for words in ("before: 1.0, ", "after: 1.1, ", "BOUNDS", "Main"):
            self.assertIn(words, output)

    def test_versions_that_are_not_meant(self):
        for names, words in [(("1", "1.1"), "1.0, 1.1, 1.2"), (("9", "1.1"), "begins with"),
                             (("1.1", "9"), "begins with"), (("1.1", "1.1"), "both versions"),
                             (("", "1.1"), "1.0, 1.1, 1.2")]:
            output, errors = told("compare", "--from", self.url, "true", *names, status=1)
            self.assertEqual(output, "")
            self.assertRegex(errors, r"\A[^\n]+\n\Z")
            self.assertIn(words, errors)
        told("compare", "--from", self.url, "no-such-program", "1.0", "1.1", status=1)


class Liar(http.server.BaseHTTPRequestHandler):
    """Says yes to everything, and the same bytes to every question but those by which it is known."""
    protocol_version = "HTTP/1.0"

    def do_POST(self):
        question = self.rfile.read(int(self.headers["Content-Length"]))
        known = b"max(version)" in question
        answer = struct.pack("<I", 1) if known else self.server.answer
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@needs_ship
class HostileServers(unittest.TestCase):
    """What a server answers is not trusted: an error in a line, no crash, no hang."""

    def test_whatever_it_answers(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/d"
        numbers = random.Random(1)
        answers = [struct.pack("<Q", value) * count
                   for value in (0, 1, 1 << 34, 1 << 62, (1 << 63) - 1, (1 << 64) - 1)
                   for count in (1, 2, 3, 8, 1000)]
        answers += [bytes([byte]) * count for byte in (0x7F, 0x80, 0xFF) for count in (1, 9, 4000)]
        answers += [numbers.randbytes(numbers.randint(1, 400)) for _ in range(60)]
        for answer in answers:
            server.answer = answer
            for words in [("history", "--from", url), ("top", "--from", url),
                          ("top", "--from", url, "--phase", "x"),
                          ("compare", "--from", url, *VERSIONS),
                          ("ship", "--to", url, measurements()[0])]:
                with self.subTest(words[0], answer=answer[:40]):
                    finished = subprocess.run([os.environ["FIRSTLIGHT"], *words],
                                              capture_output=True, timeout=60, check=False)
                    self.assertIn(finished.returncode, (0, 1), finished.stderr)
                    if finished.returncode == 1:
                        self.assertRegex(finished.stderr, rb"\Afirstlight: [^\n]*\n\Z")


@needs_engine
@needs_ship
class Fleet(unittest.TestCase):
    """What became slower in a fleet is found, where and by how much."""

    @classmethod
    def setUpClass(cls):
        cls.server = clickhouse.server_for(cls)
        cls.server.run_schema("d")
        cls.fleet = fleet.fill(cls.server, "d", seed=1, scale=0.3)

    def assert_found(self, database, planted):
        url = self.server.url(database)
        history = json.loads(told("history", "--from", url, "--format", "json")[0])
        self.assertEqual(len(history["series"]), len(fleet.PROGRAMS) * len(fleet.KINDS))
        for series in history["series"]:
            program = series["program"]["name"]
            with self.subTest(program, processor=series["machine"]["processor"]):
                steps = [step for step in planted.steps if step.program == program]
                self.assertEqual(len(series["points"]), fleet.VERSIONS)
                # All of them and no others; a stray median may move one by a version.
                found = [change["index"] for change in series["changes"]]
                self.assertEqual(len(found), len(steps), (series["changes"], steps))
                for index, step in zip(found, steps):
                    self.assertAlmostEqual(index, step.index, delta=1)
                for change, step in zip(series["changes"], steps):
                    self.assertAlmostEqual(change["change"], step.factor - 1, delta=0.02)

    def test_steps_are_found(self):
        self.assert_found("d", self.fleet)

    def test_steps_of_other_fleets_are_found(self):
        for seed in range(2, 6):
            database = f"seed{seed}"
            self.server.run_schema(database)
            self.assert_found(database, fleet.fill(
                self.server, database, seed=seed, scale=0.3, has_recordings=False))

    def compared(self, program, before, after):
        answer = json.loads(told("compare", "--from", self.server.url("d"), "--format", "json",
                                 program, before, after)[0])
        found = answer["comparisons"]
        # Each kind of machine once, most launches first.
        self.assertEqual(sorted(one["machine"]["processor"] for one in found),
                         sorted(kind.processor for kind in fleet.KINDS))
        counts = [one["launch"]["launches"] + one["launch"]["launchesBefore"] for one in found]
        self.assertEqual(counts, sorted(counts, reverse=True))
        for one in found:
            self.assertEqual([phase["name"] for phase in one["phases"]], fleet.PHASES)
        return found

    def test_steps_are_compared(self):
        for step in self.fleet.steps:
            with self.subTest(step):
                for found in self.compared(
                        step.program, fleet.version_name(step.index - 1), step.version):
                    # Other machines of a kind are up to 3 % faster or slower.
                    self.assertAlmostEqual(
                        found["launch"]["change"], step.factor - 1, delta=0.035)
                    # Slower by no more than 2 ms is allowed.
                    extra = (step.factor - 1) * found["launch"]["medianBeforeNs"]
                    if step.factor > 1.08 and extra > 3e6:
                        self.assertEqual(found["verdict"], "slower")
                    if step.factor < 0.93:
                        self.assertEqual(found["verdict"], "faster")

    def test_versions_without_a_step_are_compared(self):
        for program in fleet.PROGRAMS:
            steps = {step.index for step in self.fleet.steps if step.program == program}
            index = next(one for one in range(3, fleet.VERSIONS) if one not in steps)
            for found in self.compared(
                    program, fleet.version_name(index - 1), fleet.version_name(index)):
                self.assertAlmostEqual(found["launch"]["change"], 0, delta=0.035)
                self.assertNotEqual(found["verdict"], "slower")

    def test_more_launches_than_are_held_against_each_other(self):
        self.server.run_schema("many")
        columns = "program, session, date, path, version, host"
        values = ("'big', side + 1, toDateTime64('2026-01-05 00:00:00', 9, 'UTC'), '/big', "
                  "concat('1.', toString(side)), 'm'")
        self.server.query(
            f"INSERT INTO launches ({columns}, launch, arm, wall, phase_names, phase_walls) "
            f"SELECT {values}, number, 0, toInt64(1e8 * (1 + side / 10) * (0.9 + 0.2 * "
            f"{fleet.uniform('side', 'number')})) AS wall, ['Main'], [wall] "
            "FROM numbers(5000) ARRAY JOIN [0, 1] AS side", "many")
        self.server.query(
            f"INSERT INTO sessions ({columns}, kind, file, launches) SELECT {values}, "
            "'measurement', toString(side), 5000 FROM (SELECT arrayJoin([0, 1]) AS side)", "many")
        words = ("compare", "--from", self.server.url("many"), "big", "1.0", "1.1")
        found, = json.loads(told(*words, "--format", "json")[0])["comparisons"]
        self.assertTrue(found["thinned"])
        self.assertEqual(found["verdict"], "slower")
        for one in (found["launch"], found["phases"][0]["difference"]):
            self.assertEqual([one["launches"], one["launchesBefore"]], [5000, 5000])
            self.assertAlmostEqual(one["differenceNs"], 1e7, delta=6e5)
            self.assertLess(one["differenceLowNs"], one["differenceNs"])
            self.assertLess(one["differenceNs"], one["differenceHighNs"])
        self.assertIn("2,000 evenly spaced launches", " ".join(told(*words)[0].split()))

    def test_what_functions_cost(self):
        top = json.loads(told("top", "--from", self.server.url("d"), "--format", "json",
                              "viewer")[0])
        program, = top["programs"]
        found = {one["function"]: one["selfWallNs"]["sum"] for one in program["functions"]}
        truth = dict(self.server.rows(
            "SELECT name, sum(own) FROM (SELECT thing, own FROM costs ARRAY JOIN things AS thing, "
            "own_walls AS own WHERE phase = '' AND program = 'viewer') AS cost "
            "INNER JOIN (SELECT thing, name FROM things WHERE kind = 'function' AND "
            "program = 'viewer') AS named ON named.thing = cost.thing GROUP BY name", "d"))
        self.assertEqual(found, truth)
        for step in self.fleet.steps:
            if step.program == "viewer":
                self.assertIn(step.function, list(found)[:10])


if __name__ == "__main__":
    unittest.main()

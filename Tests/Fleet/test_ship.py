"""Measurements and recordings are shipped to ClickHouse's engine, which breaks down, is slow and
lies, and questions to it are answered as if they were asked of the files."""

import functools
import http.server
import json
import os
import random
import re
import shutil
import signal
import statistics
import struct
import subprocess
import threading
import time
import unittest

import clickhouse
import fleet
import launches
from test_front import needs_engine

# What a program may be called, so that whoever takes it for a part of SQL does harm.
HOSTILE = [b"a\nb\tc", b"it's", b'a "b" `c`', b"back\\slash\\", b"\xff\xfe.bin",
           b"'); DROP TABLE launches; --", b"{a:String}", "größe ☃".encode()]
TABLES = ("costs", "frames", "launches", "sessions", "stacks", "things")


@functools.cache
def has_ship():
    return subprocess.run([launches.FIRSTLIGHT, "ship", "--help"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=60).returncode == 0


needs_ship = unittest.skipUnless(has_ship(), "this firstlight has no ship")


@functools.cache
def folder():
    """Measurements of versions of two programs, also such of which not all launches count, and
    recordings of both."""
    path = launches.file("shipped")
    os.mkdir(path)

    def measured(name, *words):
        launches.run("measure", "--quiet", "--launches", "6", "-o", os.path.join(path, name),
                     *words)

    for version in ("1.0", "1.1", "1.2"):
        measured(f"true-{version}.firstlight", "--version-name", version, "true")
    measured("other.firstlight", "true")
    measured("against.firstlight", "--version-name", "1.2", "--against", "cat /dev/null", "true")
    measured("output.firstlight", "--until", "output", "--", "sh", "-c", "echo x; sleep 1")
    shutil.copy(launches.failing(), path)
    for index in range(3):
        for program in ("true", "cat"):
            launches.run("record", "--quiet", "-o",
                         os.path.join(path, f"{program}{index}.firstlight"), program,
                         *(["/dev/null"] if program == "cat" else []))
    return path


def files(*starts):
    return sorted(os.path.join(folder(), name) for name in os.listdir(folder())
                  if name.startswith(starts or ""))


def measurements():
    return [path for path in files() if not re.search(r"(true|cat)\d\.", path)]


def by_date(paths):
    """Series of files are in the order of the files, those of a store in that of their dates."""
    return sorted(paths, key=lambda path: reported(path)["measurement"]["dateNs"])


def recordings():
    return [path for path in files() if re.search(r"(true|cat)\d\.", path)]


# What `compare` is asked for besides the database.
VERSIONS = ("true", "1.0", "1.1")

# Of files that do not change.
reported = functools.cache(launches.report)


def environment(user=None, password=None):
    found = {name: value for name, value in os.environ.items()
             if not name.startswith("CLICKHOUSE_")}
    if user is not None:
        found["CLICKHOUSE_USER"] = user
    if password is not None:
        found["CLICKHOUSE_PASSWORD"] = password
    return found


def told(*words, status=0, **credentials):
    """What firstlight prints, and complains."""
    finished = subprocess.run([launches.FIRSTLIGHT, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=300,
                              env=environment(**credentials))
    output, errors = finished.stdout.decode(), finished.stderr.decode()
    if finished.returncode != status:
        raise AssertionError(f"{words}: {finished.returncode}: {output}{errors}")
    return output, errors


def shipped(output):
    """The files that a shipper says are there now."""
    return re.findall(r"^shipped (.*): [\d,]+ launch(?:es)?$", output, re.MULTILINE)


@needs_engine
@needs_ship
class Shipping(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = clickhouse.ClickHouse().start()
        cls.addClassCleanup(cls.server.remove)
        cls.count = 0
        folder()

    def setUp(self):
        """A database for each test."""
        type(self).count += 1
        self.database = f"d{self.count}"
        self.url = self.server.url(self.database)

    def tearDown(self):
        self.server.set_faults()

    def ship(self, *words, status=0, **credentials):
        return told("ship", "--to", self.url, *words, status=status, **credentials)

    def asked(self, sql):
        return self.server.rows(sql, self.database)

    def line(self, errors):
        """The only one."""
        self.assertRegex(errors, r"\Afirstlight[^\n]*\n\Z")
        return errors

    def assert_all_is_there_once(self, paths):
        """As `report` tells it of each file."""
        counts = dict(self.asked("SELECT file, count() FROM sessions FINAL GROUP BY file"))
        self.assertEqual(counts, {path: 1 for path in paths})
        stored = {path: [] for path in paths}
        for path, *row in self.asked(
                "SELECT file, launch, arm, discarded, launches.wall, launches.cpu, main_blocked, "
                "minor_faults, major_faults, read_bytes, launches.ready_by, "
                "arrayZip(launches.phase_names, phase_walls, phase_cpus) "
                "FROM launches FINAL INNER JOIN (SELECT session, file FROM sessions FINAL) AS of "
                "ON of.session = launches.session ORDER BY file, launch"):
            stored[path].append(row)
        for path in paths:
            if path in recordings():
                # What is in it besides, `top` is asked for.
                self.assertEqual(len(stored[path]), 1)
                continue
            report = reported(path)
            self.assertEqual(stored[path], [
                [launch["order"], launch["arm"], launch["discarded"] or "", launch["wallNs"],
                 launch["cpuNs"], launch["mainBlockedNs"], launch["minorFaults"],
                 launch["majorFaults"], launch["readBytes"], launch["readyBy"],
                 [[phase["name"], phase["wallNs"], phase["cpuNs"]] for phase in launch["phases"]]]
                for launch in report["launches"]])
        self.assertEqual(
            self.asked("SELECT count(), countIf(session NOT IN (SELECT session FROM sessions)) "
                       "FROM launches FINAL"), [[sum(map(len, stored.values())), 0]])

    def test_all_is_shipped(self):
        output, errors = self.ship("--create-tables", folder())
        self.assertEqual((sorted(shipped(output)), errors), (files(), ""))
        self.assert_all_is_there_once(files())

    def test_what_a_measurement_says_of_itself(self):
        self.ship("--create-tables", *measurements())
        for path in measurements():
            report = reported(path)
            row, = self.asked(
                "SELECT kind, program, path, arrayPushFront(arguments, called), version, "
                "cache, network, disk_rate, host, kernel, architecture, processor, cores, memory, "
                "governor, boot, recorder, requested, ending, toUnixTimestamp64Nano(date), "
                "until_given, failed, capture "
                f"FROM sessions FINAL WHERE file = {clickhouse.quoted(path)}")
            machine, measurement = report["machine"], report["measurement"]
            self.assertEqual(row, [
                "measurement", report["program"]["name"], report["program"]["path"],
                report["program"]["arguments"], measurement["version"],
                report["conditions"]["cache"], None, None, machine["host"], machine["kernel"],
                machine["architecture"], machine["processor"], machine["cores"],
                machine["memoryBytes"], machine["governor"], machine["boot"],
                measurement["firstlight"], measurement["requested"], measurement["ending"],
                measurement["dateNs"], report["conditions"]["until"], False, ""])
            walls = sorted(launch["wallNs"] for launch in report["launches"]
                           if launch["discarded"] is None and launch["arm"] == 0)
            self.assertEqual(
                self.asked("SELECT launches, walls FROM sessions FINAL WHERE file = "
                           + clickhouse.quoted(path)), [[len(walls), walls]])

    def test_what_came_twice_counts_once(self):
        self.ship("--create-tables", *files())
        output, errors = self.ship("--create-tables", *files())
        self.assertEqual((shipped(output), errors), ([], ""))
        self.assert_all_is_there_once(files())
        # Under another name it is the same.
        copy = launches.file(f"copy{self.count}.firstlight")
        shutil.copy2(measurements()[0], copy)
        self.assertEqual(shipped(self.ship(copy)[0]), [])
        self.assert_all_is_there_once(files())

    def test_two_shippers_at_once(self):
        self.server.run_schema(self.database)
        # They shall meet: each finds that nothing is there.
        self.server.set_faults(clickhouse.fault("slow", 10 ** 6, "INSERT", seconds=0.05))
        shippers = [subprocess.Popen(
            [launches.FIRSTLIGHT, "ship", "--to", self.url, folder()], env=environment(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
        for shipper in shippers:
            output, errors = shipper.communicate(timeout=300)
            self.assertEqual((shipper.returncode, errors), (0, b""), output)
        self.assert_all_is_there_once(files())

    def test_bodies_are_packed(self):
        self.server.run_schema(self.database)
        self.server.set_faults()
        self.ship(*files())
        inserts = [seen for seen in self.server.seen() if seen["sql"].startswith("INSERT")]
        self.assertIn("gzip", [seen["encoding"] for seen in inserts])
        # What is written together comes together, sessions last.
        self.assertIn("INTO sessions", inserts[-1]["sql"])
        self.assertLessEqual(len(inserts), 3 * len(TABLES))

    def test_what_cannot_be_read_is_told_and_the_rest_shipped(self):
        self.server.run_schema(self.database)
        other = launches.file("garbage.firstlight")
        with open(other, "w") as file:
            file.write("no measurement")
        output, errors = self.ship(other, *measurements(), status=1)
        self.assertIn(other, self.line(errors))
        self.assertEqual(sorted(shipped(output)), measurements())
        self.assert_all_is_there_once(measurements())

    # MARK: What goes wrong

    def assert_nothing_is_lost(self, *faults, words=""):
        """While it goes wrong, a line says so; afterwards all comes."""
        self.server.run_schema(self.database)
        self.server.set_faults(*faults)
        output, errors = self.ship(*files(), status=1)
        self.assertIn(words, self.line(errors))
        stored = [path for path, in self.asked_unharmed("SELECT file FROM sessions FINAL")]
        self.assertLessEqual(set(shipped(output)), set(stored))
        output, errors = self.ship(*files())
        self.assertEqual(errors, "")
        self.assert_all_is_there_once(files())

    def asked_unharmed(self, sql):
        self.server.set_faults()
        return self.asked(sql)

    def test_no_server(self):
        self.server.run_schema(self.database)
        self.server.stop()
        try:
            _, errors = self.ship(*files(), status=1)
        finally:
            self.server.start()
        self.line(errors)
        self.ship(*files())
        self.assert_all_is_there_once(files())

    def test_refusals(self):
        always = 10 ** 6
        for fault in [clickhouse.refusal(500, always), clickhouse.refusal(503, always),
                      clickhouse.refusal(503, always, code=0, text="<html>no"),
                      clickhouse.full_disk(always, "INSERT"),
                      clickhouse.refusal(500, always, "INSERT INTO sessions"),
                      clickhouse.refusal(500, always, "INSERT INTO launches")]:
            with self.subTest(fault):
                self.setUp()
                self.assert_nothing_is_lost(fault)

    def test_answers_that_do_not_come(self):
        for kind in ("half", "lost"):
            for matching in ("SELECT", "INSERT INTO launches", "INSERT INTO sessions"):
                with self.subTest(kind=kind, matching=matching):
                    self.setUp()
                    self.assert_nothing_is_lost(clickhouse.fault(kind, 10 ** 6, matching))

    def test_what_passes_is_not_even_told(self):
        for fault in [clickhouse.refusal(503, 2), clickhouse.fault("lost", 2, "INSERT"),
                      clickhouse.refusal(500, 1, "INSERT", 252, "TOO_MANY_PARTS", "Too many parts"),
                      clickhouse.fault("slow", 1, "INSERT", seconds=3)]:
            with self.subTest(fault):
                self.setUp()
                self.server.run_schema(self.database)
                self.server.set_faults(fault)
                _, errors = self.ship(*files())
                self.assertEqual(errors, "")
                self.server.set_faults()
                self.assert_all_is_there_once(files())

    def test_a_server_that_dies_meanwhile(self):
        self.server.run_schema(self.database)
        self.server.set_faults(clickhouse.fault("slow", 10 ** 6, "INSERT", seconds=0.3))
        shipper = subprocess.Popen(
            [launches.FIRSTLIGHT, "ship", "--to", self.url, folder()], env=environment(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        end = time.monotonic() + 60
        while not any("INSERT" in seen["sql"] for seen in self.server.seen()):
            self.assertLess(time.monotonic(), end)
        self.server.kill()
        output, errors = shipper.communicate(timeout=300)
        self.server.start()
        self.assertEqual((shipper.returncode, shipped(output.decode())), (1, []))
        self.line(errors.decode())
        self.ship(folder())
        self.assert_all_is_there_once(files())

    def test_no_tables(self):
        _, errors = self.ship(*files(), status=1)
        self.assertIn("--create-tables", self.line(errors))
        self.server.query(f"CREATE DATABASE {self.database}")
        _, errors = self.ship(*files(), status=1)
        self.assertIn("--create-tables", self.line(errors))
        for command, *words in [("history",), ("top",), ("compare", *VERSIONS)]:
            _, errors = told(command, "--from", self.url, *words, status=1)
            self.line(errors)

    def test_tables_of_another_version(self):
        self.server.run_schema(self.database)
        self.server.query("CREATE OR REPLACE VIEW schema AS SELECT toUInt32(99) AS version",
                          self.database)
        for words in [("ship", "--to", self.url, *files()),
                      ("ship", "--to", self.url, "--create-tables", *files()),
                      ("history", "--from", self.url), ("top", "--from", self.url),
                      ("compare", "--from", self.url, *VERSIONS)]:
            output, errors = told(*words, status=1)
            self.assertEqual(output, "")
            self.assertIn("99", self.line(errors))
        self.assertEqual(self.asked("SELECT count() FROM launches"), [[0]])

    def test_killed_shippers(self):
        """A hundred times a shipper is killed at a random moment. What it had told of is there, and
        the next one brings the rest."""
        numbers = random.Random(11)
        self.server.run_schema(self.database)
        # Room between the tables, or most would be killed before they begin.
        self.server.set_faults(clickhouse.fault("slow", 10 ** 9, "INSERT", seconds=0.03))
        start = time.monotonic()
        self.ship(folder())
        whole = time.monotonic() - start
        halves = 0
        for round_number in range(100):
            # One of its own, so that what a dead shipper has sent arrives in no other.
            self.database = f"killed{round_number}"
            self.url = self.server.url(self.database)
            self.server.run_schema(self.database)
            moment = numbers.uniform(0, whole * 1.05)
            with self.subTest(round=round_number, moment=moment):
                shipper = subprocess.Popen(
                    [launches.FIRSTLIGHT, "ship", "--to", self.url, folder()], env=environment(),
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                time.sleep(moment)
                shipper.send_signal(signal.SIGKILL)
                output, errors = shipper.communicate(timeout=60)
                self.assertEqual(errors, b"")
                stored = {path for path, in self.asked("SELECT file FROM sessions FINAL")}
                self.assertLessEqual(set(shipped(output.decode())), stored)
                rows = sum(self.asked(f"SELECT count() FROM {table}")[0][0] for table in TABLES)
                halves += rows > 0 and not stored
                _, errors = self.ship(folder())
                self.assertEqual(errors, "")
                self.assert_all_is_there_once(files())
            self.server.query(f"DROP DATABASE {self.database}")
        # Or they were all killed before or after what this is about.
        self.assertGreater(halves, 3)

    # MARK: Names

    def test_hostile_names(self):
        paths, names = [], []
        for index, name in enumerate(HOSTILE):
            program = os.path.join(os.fsencode(launches.folder()), name)
            shutil.copy(shutil.which("true"), program)
            paths.append(launches.file(f"hostile{index}.firstlight"))
            launches.run("measure", "--quiet", "--launches", "2", "--version-name", "1';\n\\", "-o",
                         paths[-1], program)
            paths.append(launches.file(f"hostile{index}-recorded.firstlight"))
            launches.run("record", "--quiet", "-o", paths[-1], program)
            # Names are text: what is no UTF-8 is told as such.
            names.append(name.decode("utf-8", "replace"))
        _, errors = self.ship("--create-tables", *paths)
        self.assertEqual(errors, "")
        self.assertEqual(
            sorted(name for name, in self.asked("SELECT DISTINCT hex(program) FROM sessions")),
            sorted(name.encode().hex().upper() for name in names))
        self.assertEqual(
            self.asked("SELECT DISTINCT hex(version) FROM sessions WHERE kind = 'measurement'"),
            [[b"1';\n\\".hex().upper()]])
        # Each is asked for by its name, and nothing was dropped by that.
        for name in names:
            history = json.loads(told("history", "--from", self.url, "--format", "json", name)[0])
            self.assertEqual([series["program"]["name"] for series in history["series"]], [name])
            top = json.loads(told("top", "--from", self.url, "--format", "json", name)[0])
            self.assertEqual([program["name"] for program in top["programs"]], [name])
            _, errors = told("compare", "--from", self.url, name, "1'", "1';\n\\", status=1)
            self.assertIn("both versions are", self.line(errors))
        self.assertEqual({name for name, in self.asked("SHOW TABLES")} & set(TABLES), set(TABLES))

    def test_databases_that_are_none(self):
        for name in ["", "a-b", "a;b", "a'b", "1a", "a/b"]:
            _, errors = told("ship", "--to", self.server.url(name), *files(), status=2)
            self.assertIn("database", errors)


@needs_engine
@needs_ship
class Credentials(unittest.TestCase):
    def assert_refused(self, *words, status=1, **credentials):
        output, errors = told(*words, status=status, **credentials)
        self.assertEqual(output, "")
        if status == 1:
            self.assertRegex(errors, r"\A[^\n]+\n\Z")
            self.assertIn("CLICKHOUSE_PASSWORD", errors)
        for secret in ("hunter2", "wrong5"):
            self.assertNotIn(secret, errors)

    def test_passwords(self):
        with clickhouse.ClickHouse("shipper", "hunter2&=%\"'") as server:
            server.run_schema("d")
            for words in [("ship", "--to", server.url("d"), *measurements()),
                          ("history", "--from", server.url("d")),
                          ("top", "--from", server.url("d")),
                          ("compare", "--from", server.url("d"), *VERSIONS)]:
                self.assert_refused(*words)
                self.assert_refused(*words, user="shipper")
                self.assert_refused(*words, user="shipper", password="wrong5")
                self.assert_refused(*words, user="nobody", password="hunter2&=%\"'")
                self.assert_refused(*words, user="shipper", password="wrong5\r\nX-Other: 1")
            self.assertEqual(server.value("SELECT count() FROM launches", "d"), 0)
            _, errors = told("ship", "--to", server.url("d"), *measurements(), user="shipper",
                             password="hunter2&=%\"'")
            self.assertEqual(errors, "")
            self.assertGreater(server.value("SELECT count() FROM launches", "d"), 0)

    def test_none_in_an_address(self):
        for address in ["http://me:hunter2@127.0.0.1:1/d", "http://127.0.0.1:1/d?password=hunter2"]:
            self.assert_refused("ship", "--to", address, *measurements(), status=2)
            self.assert_refused("history", "--from", address, status=2)


@needs_engine
@needs_ship
class Questions(unittest.TestCase):
    """The store says what the files say."""

    @classmethod
    def setUpClass(cls):
        cls.server = clickhouse.ClickHouse().start()
        cls.addClassCleanup(cls.server.remove)
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
        cls.server = clickhouse.ClickHouse().start()
        cls.addClassCleanup(cls.server.remove)
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

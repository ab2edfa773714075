"""Measurements and recordings are shipped to ClickHouse's engine, which breaks down and is slow."""

import json
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

import clickhouse
import launches
from store import (
    VERSIONS, environment, files, folder, measurements, needs_ship, recordings, reported, shipped,
    told)
from test_front import needs_engine

# What a program may be called, so that whoever takes it for a part of SQL does harm.
HOSTILE = [b"a\nb\tc", b"it's", b'a "b" `c`', b"back\\slash\\", b"\xff\xfe.bin",
           b"'); DROP TABLE launches; --", b"{a:String}", "größe ☃".encode()]
TABLES = ("costs", "frames", "launches", "sessions", "stacks", "things")


@needs_engine
@needs_ship
class Shipping(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = clickhouse.server_for(cls)
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
        slow = clickhouse.fault("slow", 10 ** 9, "INSERT", seconds=0.03)
        self.server.set_faults(slow)
        start = time.monotonic()
        self.ship(folder())
        whole = time.monotonic() - start
        halves = 0
        for round_number in range(100):
            # One of its own, so that what a dead shipper has sent arrives in no other.
            self.database = f"killed{round_number}"
            self.url = self.server.url(self.database)
            self.server.run_schema(self.database)
            self.server.set_faults(slow)
            moment = numbers.uniform(0, whole * 1.05)
            with self.subTest(round=round_number, moment=moment):
                shipper = subprocess.Popen(
                    [launches.FIRSTLIGHT, "ship", "--to", self.url, folder()], env=environment(),
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                time.sleep(moment)
                shipper.send_signal(signal.SIGKILL)
                output, errors = shipper.communicate(timeout=60)
                self.assertEqual(errors, b"")
                self.server.set_faults()
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


if __name__ == "__main__":
    unittest.main()

"""Our front of ClickHouse's engine behaves as its server does, and schema.sql as it promises."""

import collections
import datetime
import gzip
import http.client
import json
import random
import statistics
import struct
import unittest

import clickhouse

# Whoever has no engine is not bothered, but CI must have it.
needs_engine = unittest.skipIf(not clickhouse.is_there() and not clickhouse.IS_CI,
                               "there is no chdb")


def number(value):
    """A length in RowBinary."""
    found = bytearray()
    while value > 0x7f:
        found.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(found) + bytes([value])


def text(value):
    return number(len(value)) + value


@needs_engine
class Interface(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = clickhouse.server_for(cls, "it", "hunter2")
        cls.server.query("CREATE DATABASE d")

    def setUp(self):
        self.server.query(
            "CREATE OR REPLACE TABLE t (a UInt64, name LowCardinality(String), "
            "kind Enum8('one' = 1, 'two' = 2), date DateTime64(9, 'UTC'), other Nullable(String), "
            "list Array(Nullable(Int64)), much Float64) ENGINE = MergeTree ORDER BY a", "d")

    def row(self, a, name, much=0.1):
        return (struct.pack("<Q", a) + text(name) + struct.pack("<bq", 2, 1_700_000_000_123_456_789)
                + b"\1" + number(2) + struct.pack("<bqb", 0, -5, 1) + struct.pack("<d", much))

    def refused(self, sql, database="d", **pairs):
        with self.assertRaises(clickhouse.Failure) as caught:
            self.server.query(sql, database, **pairs)
        return caught.exception.status, caught.exception.code

    INSERT = "INSERT INTO t (a, name, kind, date, other, list, much) FORMAT RowBinary"

    def test_what_goes_in_comes_out(self):
        names = [b"x", b"\xff\n'\\\"", b"'); DROP TABLE t", b"", b"y" * 300]
        body = b"".join(self.row(index, name) for index, name in enumerate(names))
        for packed in (False, True):
            status, _, answer = self.server.request(
                gzip.compress(body) if packed else body,
                {"Content-Encoding": "gzip"} if packed else {}, database="d", query=self.INSERT,
                wait_end_of_query="1", async_insert="0", input_format_parallel_parsing="0",
                max_insert_block_size="1000000")
            self.assertEqual((status, answer), (200, b""))
            status, _, answer = self.server.request(
                b"SELECT * FROM t ORDER BY a FORMAT RowBinary", database="d")
            self.assertEqual((status, answer), (200, body))
            self.server.query("TRUNCATE TABLE t", "d")

    def test_columns_may_come_in_another_order_or_not_at_all(self):
        self.server.request(text(b"x") + struct.pack("<Q", 7), database="d",
                            query="INSERT INTO t (name, a) FORMAT RowBinary")
        self.assertEqual(self.server.rows("SELECT a, name, other FROM t", "d"), [[7, "x", None]])

    def test_half_a_row_is_refused(self):
        whole = self.row(1, b"x")
        for body, headers in [(whole + whole[:-3], {}),
                              (gzip.compress(whole)[:-9], {"Content-Encoding": "gzip"})]:
            status, headers, answer = self.server.request(
                body, headers, database="d", query=self.INSERT)
            self.assertEqual(status, 500)
            self.assertIn(headers["X-ClickHouse-Exception-Code"], ["33", "354"])
            self.assertEqual(self.server.value("SELECT count() FROM t", "d"), 0)

    def test_who_promises_more_than_he_sends(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        connection.putrequest("POST", "/?database=d&query=" + self.INSERT.replace(" ", "+"))
        connection.putheader("X-ClickHouse-User", "it")
        connection.putheader("X-ClickHouse-Key", "hunter2")
        connection.putheader("Content-Length", "1000")
        connection.endheaders(self.row(1, b"x"))
        connection.close()
        self.assertEqual(self.server.value("SELECT count() FROM t", "d"), 0)

    def test_errors(self):
        self.assertEqual(self.refused("SELECT * FROM nowhere"), (404, 60))
        self.assertEqual(self.refused("SELECT 1", "nowhere"), (404, 81))
        self.assertEqual(self.refused("SELEC 1"), (400, 62))
        self.assertEqual(self.refused(""), (400, 62))
        self.assertEqual(self.refused("SELECT 1; SELECT 2"), (400, 62))
        self.assertEqual(self.refused("SELECT 1", nonsense="1"), (404, 115))
        self.assertEqual(self.refused("SELECT nothing FROM t"), (404, 47))
        status, headers, answer = self.server.request(
            b"x", database="d", query="INSERT INTO nowhere (a) FORMAT RowBinary")
        self.assertEqual((status, headers["X-ClickHouse-Exception-Code"]), (404, "60"))
        self.assertRegex(answer.decode(), r"^Code: 60\. DB::Exception: .*\(UNKNOWN_TABLE\)")
        # It goes on after all of that.
        self.assertEqual(self.server.value("SELECT 1", "d"), 1)

    def test_parameters_and_settings_hold_for_one_question(self):
        hostile = "'); DROP TABLE t\n\\"
        escaped = hostile.replace("\\", "\\\\").replace("\n", "\\n")
        self.assertEqual(
            self.server.rows("SELECT {a:String}, {b:UInt64}, getSetting('max_execution_time')", "d",
                             param_a=escaped, param_b=str(2 ** 64 - 1), max_execution_time="7"),
            [[hostile, 2 ** 64 - 1, 7]])
        self.assertEqual(self.server.value("SELECT getSetting('max_execution_time')", "d"), 0)
        self.assertEqual(self.refused("SELECT {a:String}"), (500, 456))
        answer = self.server.request(b"SELECT hex({a:String})", database="d", param_a=b"\xff\xfe")
        self.assertEqual(answer[2], b"FFFE\n")

    def test_a_question_may_be_in_the_url_or_the_body_or_both(self):
        for url, body in [("SELECT 1, 2", b""), ("", b"SELECT 1, 2"), ("SELECT", b"1, 2")]:
            self.assertEqual(self.server.request(body, query=url)[2], b"1\t2\n")
        self.assertEqual(self.server.request(method="GET", path="/ping")[2], b"Ok.\n")
        self.assertEqual(self.server.request(method="GET", query="SELECT 1 FORMAT JSONCompact")[0],
                         200)
        self.assertEqual(self.server.request(path="/nowhere")[0], 404)

    def test_answers_are_packed_where_that_is_asked_for(self):
        status, headers, answer = self.server.request(
            b"SELECT number FROM numbers(1000)", {"Accept-Encoding": "gzip"},
            enable_http_compression="1")
        self.assertEqual((status, headers["Content-Encoding"]), (200, "gzip"))
        self.assertEqual(len(gzip.decompress(answer).splitlines()), 1000)

    def test_passwords(self):
        right = {"X-ClickHouse-User": "it", "X-ClickHouse-Key": "hunter2"}
        for headers, expected in [(right, 200), ({**right, "X-ClickHouse-Key": "x"}, 403),
                                  ({**right, "X-ClickHouse-User": "default"}, 403)]:
            status, told, answer = self.server.request(b"SELECT 1", headers)
            self.assertEqual(status, expected)
            if status != 200:
                self.assertEqual(told["X-ClickHouse-Exception-Code"], "516")
                self.assertNotIn(b"hunter2", answer)
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        for _ in range(2):
            # Over one connection, which a refusal does not end.
            connection.request("POST", "/", b"SELECT 1")
            answer = connection.getresponse()
            self.assertIn(b"Code: 516.", answer.read())
            self.assertEqual(answer.status, 403)
        connection.request("POST", "/", b"SELECT 1", right)
        self.assertEqual(connection.getresponse().read(), b"1\n")
        connection.close()

    def test_what_goes_wrong_on_request(self):
        self.addCleanup(self.server.set_faults)
        self.server.set_faults(clickhouse.refusal(503, 2), clickhouse.full_disk(),
                               clickhouse.fault("half"), clickhouse.fault("lost", matching="t$"))
        self.assertEqual([self.refused("SELECT 1") for _ in range(3)],
                         [(503, 1002), (503, 1002), (500, 243)])
        with self.assertRaises(http.client.IncompleteRead):
            self.server.query("SELECT 1")
        self.assertEqual(self.server.query("SELECT 1"), "1\n")
        with self.assertRaises(http.client.RemoteDisconnected):
            self.server.query("INSERT INTO t (a) SELECT 5 AS t", "d")
        # It was done all the same.
        self.assertEqual(self.server.value("SELECT sum(a) FROM t", "d"), 5)
        self.assertEqual(len(self.server.seen()), 7)


@needs_engine
class Restart(unittest.TestCase):
    def test_what_is_stored_outlives_the_server(self):
        with clickhouse.ClickHouse() as server:
            server.run_schema("d")
            server.query("INSERT INTO launches (program, wall) VALUES ('x', 7)", "d")
            port = server.port
            server.kill()
            self.assertRaises(ConnectionRefusedError, server.query, "SELECT 1")
            server.start()
            self.assertEqual(server.port, port)
            self.assertEqual(server.value("SELECT sum(wall) FROM launches", "d"), 7)
            server.stop()
            server.start()
            self.assertEqual(server.value("SELECT sum(wall) FROM launches", "d"), 7)


MACHINES = [{"host": "a", "cores": 8, "architecture": "x86_64", "processor": "One"},
            {"host": "b", "cores": 8, "architecture": "x86_64", "processor": "One"},
            {"host": "c", "cores": 4, "architecture": "aarch64", "processor": "Two"}]
KINDS = ("architecture", "processor", "cores", "kernel", "cache", "until")


def some_launches(count=200, seed=7):
    """Rows of `launches`."""
    random_numbers = random.Random(seed)
    first = datetime.datetime(2026, 3, 30, 12)
    found = []
    for index in range(count):
        version = random_numbers.choice([None, "1", "2", "2"])
        date = first + datetime.timedelta(hours=random_numbers.randrange(80))
        found.append({
            "program": random_numbers.choice(["x", "x", "y"]), "session": index // 10,
            "launch": index % 10, "date": date.strftime("%Y-%m-%d %H:%M:%S.000000000"),
            "arm": int(random_numbers.random() < 0.1), "version": version,
            **random_numbers.choice(MACHINES), "kernel": "6.1", "cache": "warm",
            "until": random_numbers.choice([[], [], ["listen:80"]]),
            "discarded": random_numbers.choice(["", "", "", "", "failed"]),
            "wall": random_numbers.randrange(10_000_000, 90_000_000)})
    return found


def counted(rows):
    return [row for row in rows if row["discarded"] == "" and row["arm"] == 0]


def grouped(rows, *keys):
    found = collections.defaultdict(list)
    for row in rows:
        found[tuple(tuple(row[key]) if isinstance(row[key], list) else row[key]
                    for key in keys)].append(row)
    return found


def percentile90(values):
    """The smallest that at least nine tenths of them do not exceed."""
    return next(value for value in sorted(values)
                if 10 * sum(other <= value for other in values) >= 9 * len(values))


@needs_engine
class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = clickhouse.server_for(cls)
        # Twice does no harm.
        cls.server.run_schema("d")
        cls.server.run_schema("d")
        cls.rows = some_launches()
        cls.insert("launches", cls.rows)
        # All comes twice; in two parts, so that it is not simply one that was merged.
        cls.insert("launches", cls.rows[50:])
        cls.insert("launches", cls.rows)
        cls.server.refresh("d")

    @classmethod
    def insert(cls, table, rows):
        status, _, answer = cls.server.request(
            "\n".join(json.dumps(row) for row in rows).encode(), database="d",
            query=f"INSERT INTO {table} ({', '.join(rows[0])}) FORMAT JSONEachRow")
        assert status == 200, answer

    def asked(self, sql, **pairs):
        return self.server.rows(sql, "d", **pairs)

    def test_its_version(self):
        self.assertEqual(self.asked("SELECT version FROM schema"), [[1]])

    def test_each_launch_counts_once(self):
        self.assertGreater(self.asked("SELECT count() FROM launches")[0][0], len(self.rows))
        self.assertEqual(self.asked("SELECT count() FROM launches FINAL")[0][0], len(self.rows))

    def test_daily(self):
        truth = {}
        rows = [{**row, "day": row["date"][:10]} for row in self.rows]
        for key, some in grouped(counted(rows), "program", "day", "version", *KINDS).items():
            walls = [row["wall"] for row in some]
            truth[key] = (len(walls), statistics.median(walls), percentile90(walls))
        told = {(*row[:8], tuple(row[8])): tuple(row[9:]) for row in self.asked(
            f"SELECT program, day, version, {', '.join(KINDS)}, launches, median, percentile90 "
            "FROM daily")}
        self.assertEqual(told, truth)

    def test_the_90th_percentile_of_every_count(self):
        """The view's own expression: of whole tens, others are one too high."""
        expression, = set(
            line.split(" AS ")[0].strip() for line in clickhouse.schema().splitlines()
            if line.endswith(" AS percentile90") and "other" not in line)
        told = self.asked(
            f"SELECT size, {expression} FROM (SELECT number + 1 AS size FROM numbers(300)) "
            "ARRAY JOIN range(1, size + 1) AS wall GROUP BY size ORDER BY size")
        self.assertEqual(told, [[size, percentile90(range(1, size + 1))] for size in range(1, 301)])

    def test_version_medians(self):
        truth = {}
        for key, some in grouped(counted(self.rows), "program", "version", *KINDS).items():
            if key[1] is not None:
                dates = [row["date"] for row in some]
                truth[key] = (min(dates), max(dates), len({row["host"] for row in some}), len(some),
                              statistics.median([row["wall"] for row in some]))
        told = {(*row[:7], tuple(row[7])): tuple(row[8:]) for row in self.asked(
            f"SELECT program, version, {', '.join(KINDS)}, first_date, last_date, machines, "
            "launches, median FROM version_medians")}
        self.assertEqual(told, truth)

    def test_a_launch_in_its_population(self):
        populations = grouped([row for row in self.rows if row["discarded"] == ""],
                              "program", "arm", "version", *KINDS)
        for row in self.rows[:40]:
            population, = grouped([row], "program", "arm", "version", *KINDS)
            walls = [other["wall"] for other in populations.get(population, [])]
            told = self.asked(
                "SELECT program, version, wall, launches, share_faster, median, percentile90 "
                f"FROM launch_in_population(session = {row['session']}, launch = {row['launch']})")
            self.assertEqual(told, [[
                row["program"], row["version"], row["wall"], len(walls),
                sum(wall < row["wall"] for wall in walls) / len(walls), statistics.median(walls),
                percentile90(walls)]] if walls else [])

    def test_top_functions(self):
        random_numbers = random.Random(8)
        names = [{"program": program, "thing": 2 ** 63 + thing, "kind": kind, "name": f"f{thing}()",
                  "module": "m", "date": "2026-03-30 12:00:00.000000000"}
                 for program in "xy" for thing in range(20)
                 for kind in ["wait" if thing % 5 == 0 else "function"]]
        costs = []
        for session in range(40):
            things = random_numbers.sample(range(20), 12)
            for phase in ("", "Main"):
                costs.append({
                    "program": "xy"[session % 2], "phase": phase, "session": session,
                    "date": "2026-03-30 12:00:00.000000000", "build": "b" + str(session // 20),
                    "things": [2 ** 63 + thing for thing in things],
                    "own_walls": [random_numbers.randrange(10 ** 9) for _ in things],
                    "total_walls": [random_numbers.randrange(10 ** 9) for _ in things]})
        self.insert("things", names)
        self.insert("costs", costs)
        self.insert("costs", costs[::-1])
        self.server.refresh("d", "top_functions")
        truth = {}
        for (program, build), some in grouped(
                [cost for cost in costs if cost["phase"] == ""], "program", "build").items():
            for thing in range(20):
                places = [(cost, cost["things"].index(2 ** 63 + thing)) for cost in some
                          if 2 ** 63 + thing in cost["things"]]
                if places and thing % 5 != 0:
                    truth[program, build, f"f{thing}()", "m"] = (
                        len(some), len(places),
                        sum(cost["own_walls"][place] for cost, place in places) / len(some),
                        sum(cost["total_walls"][place] for cost, place in places) / len(some))
        told = {tuple(row[:4]): tuple(row[4:]) for row in self.asked(
            "SELECT program, build, name, module, launches, seen, own_mean, total_mean "
            "FROM top_functions")}
        self.assertEqual(told, truth)


if __name__ == "__main__":
    unittest.main()

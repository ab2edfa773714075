"""The made-up fleet is what it says of itself."""

import math
import statistics
import unittest

import clickhouse
import fleet
from test_front import needs_engine


@needs_engine
class Fleet(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = clickhouse.server_for(cls)
        cls.server.run_schema("d")
        cls.fleet = fleet.fill(cls.server, "d", seed=3, scale=0.1)
        cls.server.refresh("d")

    def asked(self, sql):
        return self.server.rows(sql, "d")

    def test_how_much_there_is(self):
        for table, rows in [
                ("launches", 202_000), ("sessions", 4_000), ("costs", 6_000), ("things", 5_000)]:
            self.assertEqual(self.asked(f"SELECT count() FROM {table} FINAL"), [[rows]])
        self.assertEqual(self.fleet.launches, 200_000)
        programs, versions, kinds, machines = self.asked(
            "SELECT uniqExact(program), uniqExact(version), "
            "uniqExact(processor, cores, architecture), uniqExact(host) FROM launches "
            "WHERE host != ''")[0]
        self.assertEqual((programs, versions, kinds), (5, fleet.VERSIONS, 4))
        self.assertGreater(machines, 390)
        # 30 weeks.
        self.assertEqual(self.asked(
            "SELECT uniqExact(toStartOfWeek(date, 1)), min(date) >= '2026-01-05', "
            "max(date) < toDate('2026-01-05') + 211 FROM launches"), [[30, 1, 1]])

    def test_sessions_say_the_same_as_launches(self):
        self.assertEqual(self.asked(
            "SELECT count() FROM sessions AS one INNER JOIN ("
            "    SELECT session, arraySort(groupArrayIf(wall, discarded = '')) AS walls,"
            "        min(date) AS date, any(version) AS version,"
            "        quantileExactInclusiveIf(0.5)(phase_walls[4], discarded = '') AS last"
            "    FROM launches WHERE host != '' GROUP BY session) AS other "
            "ON one.session = other.session WHERE one.walls = other.walls "
            "AND one.date = other.date AND one.launches = length(one.walls) "
            "AND one.phase_medians[4] = other.last AND one.version = other.version"), [[2_000]])
        self.assertEqual(self.asked(
            "SELECT count() FROM launches WHERE arraySum(phase_walls) != wall AND host != ''"),
            [[0]])

    def test_some_launches_do_not_count(self):
        told = dict(self.asked("SELECT discarded, count() FROM launches GROUP BY discarded"))
        self.assertEqual(told["first"], 2_000)
        self.assertEqual(set(told), {"", "first", "failed", "hung", "other_status"})
        self.assertAlmostEqual(told["failed"] / 198_000, 0.006, delta=0.001)

    def test_noise(self):
        (spread,), = self.asked(
            "SELECT avg(arrayReduce('stddevPop', arrayMap(wall -> log(wall), walls))) "
            "FROM sessions WHERE kind = 'measurement'")
        self.assertAlmostEqual(spread, 0.05, delta=0.001)

    def test_steps_are_where_they_are_said_to_be(self):
        self.assertEqual({step.program for step in self.fleet.steps}, set(fleet.PROGRAMS))
        factors = {(kind.processor): kind.factor for kind in fleet.KINDS}
        for program in fleet.PROGRAMS:
            steps = [step for step in self.fleet.steps if step.program == program]
            self.assertIn(len(steps), range(2, 5))
            medians = [[] for _ in range(fleet.VERSIONS)]
            for version, processor, median in self.asked(
                    "SELECT toUInt8(splitByChar('.', assumeNotNull(version))[2]), processor, "
                    "walls[intDiv(length(walls) + 1, 2)] FROM sessions "
                    f"WHERE kind = 'measurement' AND program = '{program}'"):
                medians[version].append(math.log(median / factors[processor]))
            borders = [0, *(step.index for step in steps), fleet.VERSIONS]
            self.assertGreaterEqual(min(b - a for a, b in zip(borders, borders[1:])), 5)
            levels = [statistics.mean(sum(medians[one:other], []))
                      for one, other in zip(borders, borders[1:])]
            for step, before, after in zip(steps, levels, levels[1:]):
                self.assertTrue(0.049 < abs(step.factor - 1) < 0.201)
                self.assertAlmostEqual(math.exp(after - before), step.factor, delta=0.015)

    def test_the_guilty_are_in_the_recordings(self):
        for step in self.fleet.steps:
            before, after = (
                self.asked("SELECT avg(own_walls[indexOf(things, cityHash64(program, "
                           f"toUInt64({step.thing})))]) FROM costs WHERE phase = '' AND build = "
                           f"lower(hex(MD5('{step.program}-{fleet.version_name(index)}')))")[0][0]
                for index in (step.index - 1, step.index))
            expected = step.wall if step.factor > 1 else -step.wall
            self.assertAlmostEqual((after - before) / expected, 1, delta=0.2)
            self.assertEqual(self.asked(
                "SELECT name FROM things WHERE thing = cityHash64(program, "
                f"toUInt64({step.thing})) AND program = '{step.program}'"), [[step.function]])

    def test_recordings(self):
        self.assertEqual(self.asked(
            "SELECT count() FROM costs WHERE arrayExists(one -> one != length(things), ["
            + ", ".join(f"length({name})" for name in (
                "own_walls", "own_cpus", "own_blocked", "total_walls", "total_cpus",
                "total_blocked", "counts", "known", "used")) + "])"), [[0]])
        (size, names, missing), = self.asked(
            "SELECT avg(length(things)), uniqExactArray(things), countIf(session NOT IN "
            "(SELECT session FROM sessions WHERE kind = 'recording')) FROM costs WHERE phase = ''")
        self.assertAlmostEqual(size, 200, delta=10)
        self.assertEqual((names, missing), (5_000, 0))
        # All is the sum of the phases.
        self.assertEqual(self.asked(
            "SELECT countIf(phases != whole OR walls != wall) FROM (SELECT session, "
            "sumIf(arraySum(own_walls), phase != '') AS phases, "
            "sumIf(arraySum(own_walls), phase = '') AS whole, "
            "sumIf(costs.wall, phase != '') AS walls, sumIf(costs.wall, phase = '') AS wall "
            "FROM costs GROUP BY session)"), [[0]])
        self.assertEqual(self.asked(
            "SELECT uniqExactArray(stacks) > 100, countIf(length(stacks) != length(walls)) "
            "FROM stacks"), [[1, 0]])
        self.assertEqual(self.asked(
            "SELECT count() FROM frames ARRAY JOIN things AS thing WHERE (program, thing) NOT IN "
            "(SELECT program, thing FROM things WHERE kind = 'function')"), [[0]])

    def test_the_same_seed_gives_the_same_fleet(self):
        sums = []
        for database, seed in [("e", 5), ("f", 5), ("g", 6)]:
            self.server.run_schema(database)
            fleet.fill(self.server, database, seed, scale=0.01)
            sums.append(self.server.rows(
                "SELECT sum(cityHash64(toString(tuple(*)))) FROM launches UNION ALL "
                "SELECT sum(cityHash64(toString(tuple(*)))) FROM costs", database))
        self.assertEqual(sorted(sums[0]), sorted(sums[1]))
        self.assertNotEqual(sorted(sums[0]), sorted(sums[2]))


if __name__ == "__main__":
    unittest.main()

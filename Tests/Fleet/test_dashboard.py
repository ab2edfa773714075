"""The dashboard over ClickHouse's tables: every question of it is answered."""

import re
import unittest

import clickhouse
import fleet
from test_front import needs_engine
from test_metrics import dashboard

# A program whose name ends a text of SQL, and one whose name is one's escape.
HOSTILE = ["it's', 1); DROP TABLE launches; --", "back\\"]


def in_quotes(values):
    return "'" + "','".join(values) + "'"


def condition(match, chosen):
    return "1=1" if chosen.get(match[2]) is None else match[1]


def filled(sql, chosen, first="2026-01-01", last="2026-12-31"):
    """What Grafana's data source asks: all of a variable that is not chosen."""
    # $__conditionalAll(condition, $name): true where all are chosen.
    sql = re.sub(r"\$__conditionalAll\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*), \$(\w+)\)",
                 lambda match: condition(match, chosen), sql)
    sql = re.sub(r"\$\{(\w+):singlequote\}", lambda match: in_quotes(chosen[match[1]]), sql)
    for macro, kind in [("timeFilter", "toDateTime"), ("dateFilter", "toDate")]:
        sql = re.sub(rf"\$__{macro}\((\w+)\)",
                     rf"\1 >= {kind}('{first}') AND \1 <= {kind}('{last}')", sql)
    return sql


@needs_engine
class Dashboard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = clickhouse.server_for(cls)
        cls.server.run_schema("d")
        cls.fleet = fleet.fill(cls.server, "d", seed=5, scale=0.03)
        for index, name in enumerate(HOSTILE):
            for discarded in ("", "failed"):
                cls.server.query(
                    "INSERT INTO launches (program, session, launch, date, version, host, "
                    "processor, discarded, wall, phase_names, phase_walls) VALUES "
                    f"({clickhouse.quoted(name)}, {index}, {len(discarded)}, '2026-02-02', "
                    f"{clickhouse.quoted(name)}, 'm1', {clickhouse.quoted(name)}, '{discarded}', "
                    "5, ['Main'], [5])", "d")
            cls.server.query(
                "INSERT INTO costs (program, build, session, things, own_walls, total_walls) "
                f"VALUES ({clickhouse.quoted(name)}, 'b', {index}, [1], [2], [3])", "d")
            cls.server.query(
                "INSERT INTO things (program, thing, kind, name) "
                f"VALUES ({clickhouse.quoted(name)}, 1, 'function', 'f')", "d")
        cls.server.refresh("d")

    def asked(self, sql, chosen, **times):
        sql = filled(sql, chosen, **times)
        self.assertNotIn("$", sql)
        return self.server.rows(sql, "d")

    def targets(self):
        for panel in dashboard("clickhouse")["panels"]:
            target, = panel["targets"]
            yield panel, target

    def variables(self):
        """Each one's choices: what is put in for it, by what is shown."""
        found = {}
        for variable in dashboard("clickhouse")["templating"]["list"]:
            if variable["type"] == "query":
                found[variable["name"]] = {
                    shown: value for value, shown in self.asked(variable["query"], {})}
        return found

    def test_variables(self):
        variables = self.variables()
        self.assertEqual(set(variables["program"]), {*fleet.PROGRAMS, *HOSTILE})
        self.assertEqual(set(variables["processor"]),
                         {*(kind.processor for kind in fleet.KINDS), *HOSTILE})
        self.assertEqual(set(variables["version"]), {
            *(fleet.version_name(index) for index in range(fleet.VERSIONS)), *HOSTILE})

    def test_every_question_is_answered(self):
        variables = self.variables()
        choices = [{}]
        for name, processor, version in [
                ("editor", "Heron 12", "1.7"), *((name, name, name) for name in HOSTILE)]:
            choices.append({"program": [variables["program"][name]],
                            "processor": [variables["processor"][processor]],
                            "version": [variables["version"][version]]})
        choices.append({name: list(values.values())[:2] + [values[HOSTILE[0]]]
                        for name, values in variables.items()})
        for chosen in choices:
            for panel, target in self.targets():
                with self.subTest(panel["title"], chosen=chosen):
                    if panel["title"] == "Launches that failed" and len(chosen) == 3:
                        # Of a hundred launches none need have failed.
                        self.asked(target["rawSql"], chosen)
                        continue
                    rows = self.asked(target["rawSql"], chosen)
                    self.assertTrue(rows)
                    self.assertFalse([row for row in rows if None in row])

    def test_nothing_that_was_not_chosen(self):
        value = self.variables()["program"]
        for panel, target in self.targets():
            for name in ("mailer", *HOSTILE):
                with self.subTest(panel["title"], program=name):
                    rows = self.asked(target["rawSql"], {"program": [value[name]]})
                    text = str(rows)
                    for other in ("viewer", "shell", "editor", "player"):
                        self.assertNotIn(other, text)

    def test_time(self):
        """Where questions are about a time, what is outside of it is not told."""
        for panel, target in self.targets():
            if "Filter(" in target["rawSql"]:
                rows = self.asked(target["rawSql"], {}, first="2020-01-01", last="2020-02-01")
                self.assertIn(rows, ([], [[0]], [[None]]), panel["title"])

    def test_numbers(self):
        told = {panel["title"]: self.asked(target["rawSql"], {"program": ["editor".encode().hex()
                .upper()]}) for panel, target in self.targets()}
        walls = self.server.rows(
            "SELECT version, arraySort(groupArray(wall)), avg(wall) FROM launches WHERE "
            "program = 'editor' AND discarded = '' AND host != '' GROUP BY version "
            "ORDER BY min(date)", "d")
        self.assertEqual(told["Typical and slow launch by version"], [
            [f"editor {version}",
             (walls[(len(walls) - 1) // 2] + walls[len(walls) // 2]) / 2,
             walls[(len(walls) * 9 + 9) // 10 - 1]] for version, walls, _ in walls])
        # Phases add up to the mean launch.
        for version, _, mean in walls:
            phases = [row for row in told["Phases of a version"] if row[0] == f"editor {version}"]
            self.assertEqual({row[1] for row in phases}, set(fleet.PHASES))
            self.assertAlmostEqual(sum(row[2] for row in phases), mean, delta=1)
        self.assertEqual(told["Launches"][0][0], self.server.value(
            "SELECT count() FROM launches WHERE discarded = '' AND program = 'editor'", "d"))
        failed = self.server.value("SELECT countIf(discarded NOT IN ('', 'first')) FROM launches "
                                   "WHERE program = 'editor'", "d")
        self.assertEqual(sum(row[2] for row in told["Launches that failed"]), failed)

    def test_panels_beside_each_other(self):
        places = set()
        for panel, target in self.targets():
            place = panel["gridPos"]
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(cells & places, panel["title"])
            self.assertLessEqual(place["x"] + place["w"], 24)
            places |= cells
            # Time series come as such, or they are drawn as a table's columns.
            self.assertEqual(target["format"], 0 if panel["type"] == "timeseries" else 1)


if __name__ == "__main__":
    unittest.main()

"""What scripts/truth-table decides."""
import importlib.machinery
import importlib.util
import pathlib
import unittest

PATH = pathlib.Path(__file__).parents[2] / "scripts" / "truth-table"
LOADER = importlib.machinery.SourceFileLoader("truth_table", str(PATH))
truth_table = importlib.util.module_from_spec(importlib.util.spec_from_loader("truth_table", LOADER))
LOADER.exec_module(truth_table)


def figure(is_off=False, others=0.0, **values):
    whole = {
        "case": "waits", "figure": "pipe", "unit": "ns", "truth": 120e6, "ours": 121e6,
        "least": 118e6, "most": 122e6, "isOff": is_off, "othersShare": others}
    whole.update(values)
    return whole


class Decisions(unittest.TestCase):
    def decide(self, *figures, log="", status=0):
        return truth_table.decide(list(figures), log, status)

    def test_all_are_right(self):
        self.assertEqual(
            self.decide(figure(), figure(others=0.9)),
            (0, ["2 figures, 0 off, 0 of them while the machine was busy."]))

    def test_one_is_off_on_a_quiet_machine(self):
        code, sentences = self.decide(figure(True, 0.10), figure(True, 0.11))
        self.assertEqual(code, 1)
        self.assertEqual(sentences, ["2 figures, 2 off, 1 of them while the machine was busy."])

    def test_the_machine_was_too_busy(self):
        code, sentences = self.decide(figure(), figure(True, 0.2), figure(True, 0.5))
        self.assertEqual(code, 3)
        self.assertEqual(sentences, [
            "3 figures, 2 off, 2 of them while the machine was busy.",
            "the machine was too busy to tell: other work took up to 50 % of its cores, and they "
            "stalled for up to 0 ns during a case; run make truth again when it is quiet"])

    def test_a_stall_excuses_what_it_can_have_caused(self):
        for ours, stalled, code in ((125e6, 3e6, 3), (125e6, 2.9e6, 1), (115e6, 3e6, 3), (None, 9e9, 1)):
            self.assertEqual(self.decide(figure(True, ours=ours, stalled=stalled))[0], code)
        self.assertEqual(self.decide(figure(True, unit="yes/no", ours=0, stalled=9e9))[0], 1)

    def test_stalls_belong_to_the_case_in_which_they_began(self):
        figures = [figure(startNs=100, endNs=200), figure(startNs=200, endNs=300)]
        truth_table.add_stalls(figures, ["99 1", "100 2", "199 4", "200 8", "a line cut of", "30"])
        self.assertEqual([figure["stalled"] for figure in figures], [6, 8])

    def test_a_case_that_throws(self):
        log = (
            '✘ Test reasons(wanted:) recorded an issue with 1 argument wanted → "pipe" at x\n'
            "✘ Test reasons(wanted:) with 20 test cases failed after 9 seconds with 1 issue.\n"
            "✘ Test run with 80 tests in 9 suites failed after 90 seconds with 1 issue.\n")
        code, sentences = self.decide(figure(), log=log, status=1)
        self.assertEqual((code, sentences[1:]), (1, ["failed: reasons(wanted:)"]))
        # Nor does a busy machine excuse it.
        self.assertEqual(self.decide(figure(True, 0.9), log=log, status=1)[0], 1)

    def test_a_crash(self):
        self.assertEqual(
            self.decide(figure(), status=139)[1][1:], ["failed: the tests ended with status 139"])

    def test_nothing_was_measured(self):
        self.assertEqual(self.decide(status=0)[0], 1)
        self.assertEqual(
            self.decide(status=1), (1, ["no figure was measured: the tests could not run"]))


class Rows(unittest.TestCase):
    def test_near(self):
        self.assertEqual(truth_table.row(figure()), (
            "waits", "pipe", "120.00 ms", "121.00 ms", "1.00 ms", "± 2.00 ms", "0 %", "0 ns", "ok"))

    def test_not_reported(self):
        row = truth_table.row(figure(True, ours=None))
        self.assertEqual((row[3], row[4], row[8]), ("not reported", "", "OFF"))

    def test_bounds(self):
        for values, text in (
                ({"truth": None, "least": -100_000, "most": 5e6}, "-100.00 µs … 5.00 ms"),
                ({"truth": None, "least": None, "unit": "%", "most": 2}, "≤ 2.00 %"),
                ({"truth": None, "most": None, "unit": "", "least": 2}, "≥ 2.00"),
                ({"unit": "yes/no"}, "")):
            self.assertEqual(truth_table.bound(figure(**values)), text)

    def test_a_verdict_of_ours(self):
        row = truth_table.row(figure(True, 0.3, unit="yes/no", truth=1, ours=0, least=1, most=1))
        self.assertEqual((row[2], row[3], row[4], row[8]), ("yes", "no", "", "busy"))

    def test_a_long_name_is_shortened(self):
        name = truth_table.row(figure(figure="a;" * 60 + "last"))[1]
        self.assertEqual((len(name), name[0], name[-4:]), (60, "…", "last"))

    def test_the_table_is_aligned(self):
        lines = list(truth_table.table([figure(), figure(True, case="a longer name")]))
        self.assertEqual(lines[1].index("± 2.00 ms"), lines[0].index("BOUND"))
        self.assertTrue(lines[2].endswith("OFF"))


if __name__ == "__main__":
    unittest.main()

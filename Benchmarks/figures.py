"""Rounds of measurements, what is made of them, and how it is shown."""

import random
import re
import statistics
from dataclasses import dataclass, field


def alternated(jobs, count):
    """Does each job (name → function) once a round; a list of name → figure.

    The order turns by one each round and is reversed in every second: a drift of the machine, or
    what a job leaves behind for the next one, hits all alike.
    """
    rounds = []
    names = list(jobs)
    for index in range(count):
        turn = index % len(names)
        order = names[turn:] + names[:turn]
        if index % 2:
            order.reverse()
        rounds.append({name: jobs[name]() for name in order})
    return rounds


def shuffled(jobs, count):
    """The same in random order, the same one each time: where what a job leaves behind for the next
    one must not always hit the same."""
    chance = random.Random(0)
    rounds = []
    for _ in range(count):
        order = list(jobs)
        chance.shuffle(order)
        done = {name: jobs[name]() for name in order}
        rounds.append({name: done[name] for name in jobs})
    return rounds


def ratios(rounds, name, to):
    """Only figures of the same round are ever compared."""
    return [figures[name] / figures[to] for figures in rounds]


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0]
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return first, third


@dataclass
class Goal:
    """A median that must not be above `limit`: of the row's own values, or of others; of none,
    when what it is compared with could not be measured."""

    text: str
    limit: float
    values: list

    @property
    def met(self):
        return statistics.median(self.values) <= self.limit if self.values else None

    @property
    def close(self):
        """The limit lies between the quartiles: another run may judge otherwise."""
        if not self.values:
            return None
        first, third = quartiles(self.values)
        return first <= self.limit <= third and first < third

    def __str__(self):
        verdict = {True: "met", False: "missed", None: "unknown"}[self.met]
        return f"{self.text}: {verdict}{' ?' if self.close else ''}"


@dataclass
class Row:
    """One figure: `form` shows a value with its unit."""

    label: str
    values: list
    form: str
    goals: list = field(default_factory=list)
    remark: str = ""

    @property
    def unit(self):
        return re.sub(r"{.*}", "", self.form).strip()

    def cells(self):
        """Lines of the table: a second goal has a line of its own."""
        first, third = (self.form.format(value) for value in quartiles(self.values))
        spread = f"{first} … {third}" if len(self.values) > 1 else "one run"
        goals = [str(goal) for goal in self.goals] or [""]
        yield (self.label, self.form.format(statistics.median(self.values)), spread, goals[0],
               self.remark)
        for goal in goals[1:]:
            yield "", "", "", goal, ""


@dataclass
class Section:
    title: str
    explanation: str
    rows: list = field(default_factory=list)
    skipped: list = field(default_factory=list)
    raw: list = field(default_factory=list)

    def lines(self):
        yield f"{self.title}: {self.explanation}"
        if self.rows:
            yield from table([("", "median", "quartiles", "goal", "seen")]
                             + [cells for row in self.rows for cells in row.cells()])
        for name, reason in self.skipped:
            yield f"  {name}: skipped: {reason}"
        yield ""

    def to_json(self):
        """The figures as they were measured, in the order of the rounds."""
        return {
            "title": self.title,
            "rows": [
                {
                    "label": row.label, "unit": row.unit, "values": row.values,
                    "remark": row.remark,
                    "goals": [
                        {"text": goal.text, "limit": goal.limit, "values": goal.values,
                         "met": goal.met, "close": goal.close}
                        for goal in row.goals
                    ],
                }
                for row in self.rows
            ],
            "skipped": [{"name": name, "reason": reason} for name, reason in self.skipped],
            "rounds": self.raw,
        }


def table(lines):
    """Columns as wide as what is in them, the figures' one set to the right."""
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        cells = [cell.rjust(width) if index == 1 else cell.ljust(width)
                 for index, (cell, width) in enumerate(zip(line, widths))]
        yield ("  " + "  ".join(cells)).rstrip()

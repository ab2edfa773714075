"""A made-up fleet that measures and records its launches for 30 weeks, a version a week. What
became slower or faster, when and by how much, is known: whoever is to find it can be held to it.

The engine makes the rows itself, from numbers and hashes of them: the same seed gives the same
fleet, and two million launches take seconds."""

import dataclasses
import random

VERSIONS = 30
MACHINES = 400
# Of a session; the first one does not count.
LAUNCHES = 100
THINGS = 1_000
FIRST_DAY = "2026-01-05 00:00:00"
PHASES = ["Process creation", "Dynamic linking", "Static initialisers", "Main"]

# What a launch takes before all changes, in nanoseconds.
PROGRAMS = {"editor": 420_000_000, "mailer": 880_000_000, "player": 150_000_000,
            "shell": 24_000_000, "viewer": 1_600_000_000}


@dataclasses.dataclass
class Kind:
    """Machines that may be compared."""
    processor: str
    cores: int
    architecture: str
    memory: int
    # A launch takes this many times as long.
    factor: float


KINDS = [Kind("Bulldog 5800", 8, "x86_64", 16 << 30, 1.0),
         Kind("Bulldog 3200", 4, "x86_64", 8 << 30, 1.45),
         Kind("Heron 12", 12, "x86_64", 32 << 30, 0.8),
         Kind("Pebble 4", 4, "aarch64", 4 << 30, 2.2)]


@dataclasses.dataclass
class Step:
    """From this version on a launch takes `factor` times as long."""
    program: str
    # From 0, and its name.
    index: int
    version: str
    factor: float
    # Whose fault it is: a function's name, and what it takes per launch where it does.
    function: str
    thing: int
    wall: int


@dataclasses.dataclass
class Fleet:
    seed: int
    sessions: int
    recordings: int
    # Of measurements, with those that do not count. A recording is one, too.
    launches: int
    steps: list

    def factor(self, program, version):
        """What all steps until this version, as a number from 0, amount to."""
        found = 1.0
        for step in self.steps:
            if step.program == program and step.index <= version:
                found *= step.factor
        return found


def version_name(index):
    return f"1.{index}"


def planned(seed):
    """Two to four steps for each program, of 5 to 20 %, at least five versions apart: so many, that
    each can be seen by itself. Some take the one before back."""
    numbers = random.Random(seed)
    steps = []
    for program, base in PROGRAMS.items():
        count = numbers.randint(2, 4)
        # Spread what is not needed as distance over the places before each step.
        spare = sorted(numbers.randint(0, VERSIONS - 10 - 5 * (count - 1)) for _ in range(count))
        before, factor = base, 1.0
        for place, more in enumerate(spare):
            size = numbers.uniform(0.05, 0.2)
            is_back = place > 0 and numbers.random() < 0.3
            factor = 1 / factor if is_back else 1 + size if numbers.random() < 0.6 else 1 - size
            index = 5 + 5 * place + more
            thing = 900 - 1 - place
            steps.append(Step(program, index, version_name(index), factor, f"{program}::f{thing}()",
                              thing, round(before * abs(factor - 1))))
            before = before * factor
    return steps


def literal(value):
    """As an expression of SQL."""
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(literal, value)) + "]"
    return "'" + value + "'" if isinstance(value, str) else repr(value)


def uniform(*words):
    """A number in [0, 1) that depends on the words alone."""
    return f"(bitShiftRight(cityHash64({', '.join(map(str, words))}), 11) / 9007199254740992)"


def normal(*words):
    return (f"(sqrt(-2 * log(1 - {uniform(*words, 1)})) * cos(6.283185307179586 * "
            f"{uniform(*words, 2)}))")


class Maker:
    def __init__(self, server, database, fleet):
        self.server, self.database, self.fleet = server, database, fleet
        self.programs = list(PROGRAMS)

    def run(self, sql):
        # By the machine's memory, not by the number of rows.
        self.server.query(sql, self.database, max_execution_time="600", max_threads="2",
                          max_insert_threads="2")

    def each(self, values, index):
        """The element of a list, of a number from 0 in SQL."""
        return f"{literal(values)}[{index} + 1]"

    def session(self, salt):
        """Columns that a session's `number` tells. Programs, versions and kinds take turns, so that
        the smallest fleet has some of each."""
        seed = self.fleet.seed
        factors = [[self.fleet.factor(program, version) for version in range(VERSIONS)]
                   for program in self.programs]
        machine = f"(kind + 4 * (cityHash64({seed}, {salt}, number, 3) % {MACHINES // 4}))"
        return f"""
            number % {len(self.programs)} AS program_index,
            intDiv(number, {len(self.programs)}) % {VERSIONS} AS version_index,
            intDiv(number, {len(self.programs) * VERSIONS}) % {len(KINDS)} AS kind,
            {machine} AS machine,
            {self.each(self.programs, "program_index")} AS program,
            concat('1.', toString(version_index)) AS version_name,
            cityHash64({seed}, {salt}, number) AS session,
            lower(hex(MD5(concat(program, '-', version_name)))) AS build,
            concat('/usr/bin/', program) AS path,
            concat('m', toString(machine)) AS host,
            '6.1.0-fleet' AS kernel,
            {self.each([kind.architecture for kind in KINDS], "kind")} AS architecture,
            {self.each([kind.processor for kind in KINDS], "kind")} AS processor,
            {self.each([kind.cores for kind in KINDS], "kind")} AS cores,
            toDateTime64('{FIRST_DAY}', 9, 'UTC') + toIntervalWeek(version_index)
                + toIntervalMillisecond(toUInt64(604000000 * {uniform(seed, salt, "number", 4)}))
                AS session_date,
            {self.each(list(PROGRAMS.values()), "program_index")}
                * {literal(factors)}[program_index + 1][version_index + 1]
                * {self.each([kind.factor for kind in KINDS], "kind")}
                * (0.97 + 0.06 * {uniform(seed, "machine", 5)}) AS typical"""

    def make_launches(self):
        seed = self.fleet.seed
        shares = [[0.02, 0.08, 0.15], [0.01, 0.12, 0.05], [0.03, 0.2, 0.1], [0.05, 0.3, 0.02],
                  [0.01, 0.05, 0.3]]
        self.run(f"""
            INSERT INTO launches (program, session, launch, date, arm, path, build, version, host,
                kernel, architecture, processor, cores, cache, until, discarded, outcome, ready_by,
                wall, cpu, main_blocked, minor_faults, major_faults, read_bytes, phase_names,
                phase_walls, phase_cpus)
            WITH exp(0.05 * {normal(seed, "session", "launch")}) AS noise,
                {uniform(seed, "session", "launch", 6)} AS fate,
                multiIf(launch = 0, 'first', fate < 0.006, 'failed', fate < 0.009, 'hung',
                    fate < 0.01, 'other_status', '') AS discarded,
                toInt64(typical * noise * if(launch = 0, 1.6, 1)) AS wall,
                arrayMap(share -> toInt64(wall * share), {literal(shares)}[program_index + 1])
                    AS firsts,
                arrayPushBack(firsts, wall - arraySum(firsts)) AS walls
            SELECT program, session, launch, session_date + toIntervalSecond(2 * launch), 0, path,
                build, version_name, host, kernel, architecture, processor, cores, 'warm', [],
                discarded,
                multiIf(discarded = 'failed', 'signalled 11', discarded = 'hung', 'signalled 9',
                    discarded = 'other_status', 'exited 3', 'exited 0'), NULL,
                wall, toInt64(wall * 0.8), wall - toInt64(wall * 0.8), 2000 + launch, 0, 0,
                {literal(PHASES)}, walls, arrayMap(one -> toInt64(one * 0.8), walls)
            FROM (SELECT {self.session("'measured'")}
                FROM numbers({self.fleet.sessions}))
            ARRAY JOIN range(toUInt32({LAUNCHES})) AS launch""")

    def make_sessions(self):
        """Of what is in the launches: both say the same."""
        kinds = ("multiIf(" + "".join(
            f"any(launch.processor) = '{kind.processor}', {kind.memory}, " for kind in KINDS)
            + "0)")
        self.run(f"""
            INSERT INTO sessions (session, kind, date, file, program, path, arguments, called,
                build, version, cache, network, disk_rate, until, host, kernel, architecture,
                processor, cores, memory, governor, boot, recorder, requested, ending, launches,
                walls, phase_names, phase_medians, failed, ready_by, capture)
            SELECT launch.session, 'measurement', min(launch.date),
                concat('fleet/', toString(launch.session), '.firstlight'), launch.program,
                any(launch.path), [], any(launch.program), any(launch.build), any(launch.version),
                any(launch.cache), NULL, NULL, any(launch.until), any(launch.host),
                any(launch.kernel), any(launch.architecture), any(launch.processor),
                any(launch.cores), {kinds}, NULL,
                lower(hex(cityHash64(any(launch.host), toStartOfWeek(min(launch.date))))), '0.1.0',
                {LAUNCHES - 1}, 'complete', countIf(discarded = ''),
                arraySort(groupArrayIf(wall, discarded = '')), {literal(PHASES)},
                quantileExactInclusiveForEachIf(0.5)(launch.phase_walls, discarded = ''), false,
                NULL, ''
            FROM launches AS launch GROUP BY launch.program, launch.session""")

    def make_things(self):
        self.run(f"""
            INSERT INTO things (program, thing, date, kind, name, module, is_own, reason, thread,
                file, line)
            SELECT program, cityHash64(program, number), toDateTime64('{FIRST_DAY}', 9, 'UTC'),
                multiIf(number < 900, 'function', number < 960, 'wait', number < 980, 'initializer',
                    'library') AS kind,
                if(kind = 'library', concat('lib', toString(number), '.so.1'),
                    concat(program, '::f', toString(number), '()')),
                if(kind = 'library', concat('lib', toString(number), '.so.1'),
                    if(number % 3 = 0, 'libc.so.6', program)),
                number % 3 != 0, if(kind = 'wait', ['mutex', 'file', 'socket'][number % 3 + 1], ''),
                NULL, if(kind = 'library', NULL, concat('source', toString(number % 50), '.cpp')),
                if(kind = 'library', NULL, toInt32(number))
            FROM numbers({THINGS}) ARRAY JOIN {literal(self.programs)} AS program""")

    def make_recordings(self):
        """Sessions, and what things cost them: a fifth of all things, and the guilty ones."""
        fleet = self.fleet
        own = {program: [step for step in fleet.steps if step.program == program]
               for program in self.programs}
        guilty = [[step.thing for step in own[program]] for program in self.programs]
        since = [[step.index for step in own[program]] for program in self.programs]
        # What became faster took that long before.
        walls = [[step.wall if step.factor > 1 else -step.wall for step in own[program]]
                 for program in self.programs]
        source = f"(SELECT {self.session(chr(39) + 'recorded' + chr(39))} " \
                 f"FROM numbers({fleet.recordings}))"
        wall = f"toInt64(typical * 1.1 * exp(0.05 * {normal(fleet.seed, 'session', 7)}))"
        self.run(f"""
            INSERT INTO sessions (session, kind, date, file, program, path, arguments, build,
                recorder, requested, ending, launches, walls, phase_names, phase_medians, failed,
                capture)
            SELECT session, 'recording', session_date,
                concat('fleet/', toString(session), '.firstlight'), program, path, [program], build,
                '0.1.0', 1, 'complete', 1, [{wall}], [], [], false, 'signal 1000'
            FROM {source}""")
        self.run("""
            INSERT INTO launches (program, session, launch, date, arm, path, build, outcome, wall)
            SELECT program, session, 0, date, 0, path, build, 'exited 0', walls[1]
            FROM sessions WHERE kind = 'recording'""")
        # All of a thing is in one phase: what is in all of them is the sum of what is in each.
        self.run(f"""
            INSERT INTO costs (program, phase, session, date, build, wall, things, own_walls,
                own_cpus, own_blocked, total_walls, total_cpus, total_blocked, counts, known, used,
                detailed, details)
            WITH {literal(guilty)}[program_index + 1] AS guilty,
                {literal(since)}[program_index + 1] AS since,
                {literal(walls)}[program_index + 1] AS extra,
                arrayFilter(thing -> (cityHash64({fleet.seed}, session, thing) % 5 = 0
                    OR has(guilty, thing)) AND (phase = '' OR (phase = 'Dynamic linking')
                        = (thing % 7 = 0)), range({THINGS})) AS numbers,
                arrayMap(thing -> toInt64(typical / 400 * exp(0.2 *
                        {normal(fleet.seed, "session", "thing", 8)}))
                    + arraySum((one, version, more) -> if(one = thing
                            AND (version_index >= version) = (more > 0), abs(more), 0),
                        guilty, since, extra), numbers) AS own,
                arrayMap(one -> toInt64(one * 0.7), own) AS cpu,
                arrayMap(one -> one * 3, own) AS total,
                arrayMap(one -> toInt64(one * 0.7), total) AS total_cpu
            SELECT program, phase, session, session_date, build,
                multiIf(phase = 'Dynamic linking', intDiv({wall}, 5),
                    phase = 'Main', {wall} - intDiv({wall}, 5), {wall}),
                arrayMap(thing -> cityHash64(program, toUInt64(thing)), numbers), own, cpu,
                arrayMap((one, other) -> one - other, own, cpu), total, total_cpu,
                arrayMap((one, other) -> one - other, total, total_cpu),
                arrayMap(thing -> toInt64(thing >= 900 AND thing < 980), numbers),
                arrayMap(thing -> thing >= 980, numbers),
                arrayMap(thing -> thing >= 980 AND thing % 2 = 0, numbers),
                arrayMap(thing -> cityHash64(program, toUInt64(thing)),
                    arrayFilter(thing -> thing >= 900 AND thing < 960, numbers)),
                arrayMap(thing -> concat('/var/lib/', program, '/', toString(thing)),
                    arrayFilter(thing -> thing >= 900 AND thing < 960, numbers))
            FROM {source} ARRAY JOIN ['', 'Dynamic linking', 'Main'] AS phase""")

    def make_stacks(self):
        """Of each build eight stacks, of which each recording has four."""
        fleet = self.fleet
        stack = "cityHash64(program, build, 'stack', toUInt64(one))"
        self.run(f"""
            INSERT INTO frames (program, build, stack, things)
            SELECT program, build, {stack}, arrayMap(depth -> cityHash64(program, toUInt64(
                cityHash64(one, depth) % 900)), range(toUInt64(3 + one)))
            FROM (SELECT DISTINCT program, build FROM sessions WHERE kind = 'recording')
            ARRAY JOIN range(8) AS one""")
        self.run(f"""
            INSERT INTO stacks (program, build, session, date, phase, thread_class, stacks, walls,
                cpus, blocked)
            WITH arrayMap(one -> toUInt8((session % 8 + one) % 8), range(4)) AS numbers,
                arrayMap(one -> toInt64(walls[1] / 5 * (0.8 + 0.4 *
                    {uniform(fleet.seed, "session", "one", 9)})), numbers) AS found
            SELECT program, build, session, date, 'Main', 'main', arrayMap(one -> {stack}, numbers),
                found, arrayMap(wall -> toInt64(wall * 0.7), found),
                arrayMap(wall -> wall - toInt64(wall * 0.7), found)
            FROM sessions WHERE kind = 'recording'""")


def fill(server, database, seed=1, scale=1.0, has_recordings=True):
    """Fills tables that are there and empty; what was planted. The whole fleet has 2,000,000
    launches in 20,000 measurements, and 20,000 recordings. With a `scale` of 0.03 or more each
    program is measured in each version on each kind of machine."""
    sessions = max(1, round(20_000 * scale))
    fleet = Fleet(seed, sessions, sessions if has_recordings else 0, sessions * LAUNCHES,
                  planned(seed))
    maker = Maker(server, database, fleet)
    maker.make_launches()
    maker.make_sessions()
    if has_recordings:
        maker.make_things()
        maker.make_recordings()
        maker.make_stacks()
    return fleet

"""Exports of a real launch, read by readers that know the formats and nothing of ours.

Each checks what the format's documentation demands, and that the sums are the report's.
"""

import collections
import gzip
import json
import re
import shutil
import subprocess
import unittest

import recordings

# By the states that count.
WEIGHTS = {
    "cpu": ["runningNs"], "wall": ["runningNs", "runnableNs", "preemptedNs", "blockedNs"],
    "blocked": ["blockedNs"]}


def exported(format, *options):
    return recordings.run("export", recordings.star_searcher(), "--format", format, *options)


def report():
    return recordings.report(recordings.star_searcher())


def total(weight):
    """Of all threads, in nanoseconds."""
    return sum(thread[state] for thread in report()["threads"] for state in WEIGHTS[weight])


class Folded(unittest.TestCase):
    def test_sums(self):
        for weight in WEIGHTS:
            lines = exported("folded", "--weight", weight).decode().splitlines()
            counts = [int(re.fullmatch(r"(\S.*) (\d+)", line)[2]) for line in lines]
            # Each line is rounded to the microsecond.
            self.assertAlmostEqual(sum(counts) * 1000, total(weight), delta=1000 * len(lines))


class Speedscope(unittest.TestCase):
    """As speedscope's file-format-spec has it."""

    def test_shape_and_sums(self):
        for weight in WEIGHTS:
            with self.subTest(weight):
                file = json.loads(exported("speedscope", "--weight", weight))
                self.assertEqual(
                    file["$schema"], "https://www.speedscope.app/file-format-schema.json")
                self.assertIn(file["activeProfileIndex"], range(len(file["profiles"])))
                for key in ("name", "exporter"):
                    self.assertIsInstance(file[key], str)
                frames = file["shared"]["frames"]
                for frame in frames:
                    self.check_frame(frame)
                sums = [self.check_profile(profile, len(frames)) for profile in file["profiles"]]
                self.assertEqual(sum(sums), total(weight))

    def check_frame(self, frame):
        self.assertIsInstance(frame["name"], str)
        self.assertLessEqual(set(frame), {"name", "file", "line", "col"})
        self.assertIsInstance(frame.get("file", ""), str)
        self.assertIsInstance(frame.get("line", 0), int)

    def check_profile(self, profile, frames):
        self.assertEqual(set(profile), {
            "type", "name", "unit", "startValue", "endValue", "samples", "weights"})
        self.assertEqual((profile["type"], profile["unit"]), ("sampled", "nanoseconds"))
        self.assertEqual(len(profile["samples"]), len(profile["weights"]))
        for stack in profile["samples"]:
            self.assertTrue(stack and all(0 <= frame < frames for frame in stack))
        self.assertGreater(min(profile["weights"]), 0)
        self.assertEqual(
            sum(profile["weights"]), profile["endValue"] - profile["startValue"])
        return sum(profile["weights"])


class Firefox(unittest.TestCase):
    """As the Firefox Profiler's types of processed profiles, version 48, have it."""

    def setUp(self):
        self.profile = json.loads(exported("firefox"))

    def test_meta(self):
        meta = self.profile["meta"]
        self.assertEqual(meta["preprocessedProfileVersion"], 48)
        for key in ("interval", "startTime", "processType", "stackwalk", "version"):
            self.assertIsInstance(meta[key], (int, float))
        for key in ("product", "platform", "oscpu", "toolkit", "misc"):
            self.assertIsInstance(meta[key], str)
        # The viewer looks for a grey one, for what has none.
        self.assertIn("grey", [category["color"] for category in meta["categories"]])
        colours = {"transparent", "purple", "green", "orange", "yellow", "lightblue", "blue",
                   "brown", "magenta", "red", "lightred", "darkgrey", "grey"}
        for category in meta["categories"]:
            self.assertIn(category["color"], colours)
            self.assertEqual(category["subcategories"][0], "Other")
        for schema in meta["markerSchema"]:
            self.assertLessEqual(set(schema["display"]), {
                "marker-chart", "marker-table", "timeline-overview", "timeline-memory",
                "timeline-ipc", "timeline-fileio", "stack-chart"})
        for library in self.profile["libs"]:
            for key in ("arch", "name", "path", "debugName", "debugPath", "breakpadId"):
                self.assertIsInstance(library[key], str)

    def test_threads(self):
        self.assertEqual(sum(thread["isMainThread"] for thread in self.profile["threads"]), 1)
        used = {library for thread in self.profile["threads"]
                for library in thread["resourceTable"]["lib"]}
        self.assertEqual(used - {None}, set(range(len(self.profile["libs"]))))
        for thread in self.profile["threads"]:
            self.assertIsInstance(thread["pid"], str)
            self.assertIsInstance(thread["tid"], (int, str))
            for name in ("stackTable", "frameTable", "funcTable", "resourceTable",
                         "nativeSymbols", "samples", "markers"):
                self.check_lengths(thread[name])
            self.check_tables(thread)
            self.check_markers(thread)

    def check_lengths(self, table):
        for name, column in table.items():
            if isinstance(column, list):
                self.assertEqual(len(column), table["length"], name)

    def check_tables(self, thread):
        stacks, frames = thread["stackTable"], thread["frameTable"]
        functions, resources = thread["funcTable"], thread["resourceTable"]
        strings = range(len(thread["stringArray"]))
        categories = range(len(self.profile["meta"]["categories"]))
        for index, prefix in enumerate(stacks["prefix"]):
            self.assertTrue(prefix is None or 0 <= prefix < index)
        self.check_indices(stacks["frame"], range(frames["length"]))
        self.check_indices(stacks["category"], categories)
        self.check_indices(frames["func"], range(functions["length"]))
        self.check_indices(functions["name"], strings)
        self.check_indices(functions["resource"], range(-1, resources["length"]))
        self.check_indices(filter(None.__ne__, functions["fileName"]), strings)
        self.check_indices(resources["name"], strings)
        self.check_indices(filter(None.__ne__, resources["lib"]), range(len(self.profile["libs"])))
        samples = thread["samples"]
        self.check_indices(samples["stack"], range(stacks["length"]))
        self.assertEqual(samples["time"], sorted(samples["time"]))
        self.assertEqual(samples["weightType"], "tracing-ms")

    def check_indices(self, values, allowed):
        self.assertEqual([value for value in values if value not in allowed], [])

    def check_markers(self, thread):
        markers = thread["markers"]
        known = {schema["name"] for schema in self.profile["meta"]["markerSchema"]}
        self.check_indices(markers["name"], range(len(thread["stringArray"])))
        for data, phase, start, end in zip(
                markers["data"], markers["phase"], markers["startTime"], markers["endTime"]):
            self.assertIn(data["type"], known)
            # 0: a point in time; 1: an interval.
            self.assertIn(phase, (0, 1))
            self.assertTrue(end is None if phase == 0 else end >= start)

    def test_sums(self):
        for weight in WEIGHTS:
            profile = json.loads(exported("firefox", "--weight", weight))
            weights = [value for thread in profile["threads"]
                       for value in thread["samples"]["weight"]]
            self.assertAlmostEqual(sum(weights), total(weight) / 1e6, places=3)
        deltas = [delta for thread in self.profile["threads"]
                  for delta in thread["samples"]["threadCPUDelta"]]
        self.assertEqual(sum(deltas), total("cpu"))

    def test_phases(self):
        main = next(thread for thread in self.profile["threads"] if thread["isMainThread"])
        markers = main["markers"]
        phases = [(main["stringArray"][name], end - start) for name, start, end, data in zip(
            markers["name"], markers["startTime"], markers["endTime"], markers["data"])
            if data["type"] == "Phase"]
        wanted = [(phase["name"], phase["wallNs"] / 1e6) for phase in report()["phases"]]
        self.assertEqual([name for name, _ in phases], [name for name, _ in wanted])
        for (_, length), (_, expected) in zip(phases, wanted):
            self.assertAlmostEqual(length, expected, places=3)


class Pprof(unittest.TestCase):
    """As profile.proto has it, read by its wire format."""

    def setUp(self):
        self.profile = message(gzip.decompress(exported("pprof")))
        self.strings = [text.decode() for text in self.profile[6]]

    def records(self, field):
        return [message(bytes) for bytes in self.profile[field]]

    def test_references(self):
        self.assertEqual(self.strings[0], "")
        mappings, locations, functions = (
            {one(record, 1) for record in self.records(field)} for field in (3, 4, 5))
        for field, ids in ((3, mappings), (4, locations), (5, functions)):
            # Each once, and none 0.
            self.assertEqual(len(ids), len(self.profile[field]))
            self.assertNotIn(0, ids)
        for location in self.records(4):
            self.assertIn(one(location, 2), mappings | {0})
            for line in map(message, location[4]):
                self.assertIn(one(line, 1), functions)
        for sample in self.records(2):
            self.assertLessEqual(set(numbers(sample[1])), locations)
            for label in map(message, sample[3]):
                self.assertIn(one(label, 1), range(1, len(self.strings)))
        for function in self.records(5):
            self.assertIn("\0" if one(function, 2) == 0 else one(function, 2),
                          range(1, len(self.strings)))

    def test_sums(self):
        types = [(self.strings[one(type, 1)], self.strings[one(type, 2)])
                 for type in self.records(1)]
        self.assertEqual(types, [(weight, "nanoseconds") for weight in WEIGHTS])
        values = [numbers(sample[2]) for sample in self.records(2)]
        self.assertEqual([sum(column) for column in zip(*values)], [total(w) for w in WEIGHTS])

    @unittest.skipUnless(shutil.which("go"), "go is not installed")
    def test_go_shows_the_heaviest(self):
        path = recordings.folder() + "/stars.pb.gz"
        with open(path, "wb") as file:
            file.write(exported("pprof"))
        shown = subprocess.run(["go", "tool", "pprof", "-top", "-cum", "-unit=ns", path],
                               capture_output=True, text=True, check=True).stdout
        times = {line.split(maxsplit=5)[5]: int(line.split()[3].removesuffix("ns"))
                 for line in shown.splitlines() if re.match(r"\s*\d+(ns)? ", line)}
        for name in ("AppDelegate::didFinishLaunching()", "SuperfastLogger::warmUp()",
                     "FrameBuilder::prewarmDetailViews", "StarCatalogue::readEveryStar()"):
            function = next(function for function in report()["functions"]
                            if function["function"].startswith(name))
            # Go leaves out parameters.
            self.assertEqual(times[name.removesuffix("()")], function["totalCpuNs"])


def message(data):
    """The fields of a message in protobuf's wire format: number → values in their order."""
    fields, position = collections.defaultdict(list), 0
    while position < len(data):
        key, position = varint(data, position)
        if key & 7 == 0:
            value, position = varint(data, position)
        elif key & 7 == 2:
            length, position = varint(data, position)
            assert position + length <= len(data), "cut short"
            value, position = data[position:position + length], position + length
        else:
            raise AssertionError(f"wire type {key & 7}")
        fields[key >> 3].append(value)
    return fields


def varint(data, position):
    value = shift = 0
    while True:
        value |= (data[position] & 0x7f) << shift
        position, shift = position + 1, shift + 7
        if data[position - 1] < 0x80:
            return value, position


def one(fields, number):
    return fields[number][-1] if fields[number] else 0


def numbers(packed):
    """Of a repeated field, packed or not."""
    result = []
    for value in packed:
        position = 0
        if isinstance(value, int):
            result.append(value)
        while not isinstance(value, int) and position < len(value):
            number, position = varint(value, position)
            result.append(number)
    return result


class PerfScript(unittest.TestCase):
    """As hotspot and the Firefox Profiler read what perf script prints."""

    def test_sums(self):
        head = re.compile(r"(\S.*?)\s+(\d+)/(\d+)\s+(\d+)\.(\d{6,9}):\s+(\d+)\s+([\w-]+):\s*$")
        frame = re.compile(r"\s+([0-9a-f]+)\s+(.+?)\s+\((\S*)\)$")
        tids = {thread["tid"] for thread in report()["threads"]}
        for weight in WEIGHTS:
            total_period, frames, times = 0, 0, []
            blocks = exported("perf-script", "--weight", weight).decode().rstrip().split("\n\n")
            for block in blocks:
                first, *rest = block.split("\n")
                _, pid, tid, seconds, fraction, period, event = head.fullmatch(first).groups()
                self.assertEqual(int(pid), report()["program"]["pid"])
                self.assertIn(int(tid), tids)
                self.assertEqual(event, f"{weight}-clock")
                times.append((int(seconds), fraction))
                total_period += int(period)
                self.assertTrue(rest)
                for line in rest:
                    self.assertIsNotNone(frame.fullmatch(line), line)
            self.assertEqual(total_period, total(weight))
            self.assertEqual(times, sorted(times))


class Chrome(unittest.TestCase):
    """As the Trace Event Format has it."""

    def setUp(self):
        self.file = json.loads(exported("chrome"))
        self.events = self.file["traceEvents"]

    def test_shape(self):
        self.assertIn(self.file["displayTimeUnit"], ("ms", "ns"))
        for event in self.events:
            self.assertIn(event["ph"], "MXibe")
            for key in ("pid", "tid"):
                self.assertIsInstance(event[key], int)
            self.assertIsInstance(event["name"], str)
            if event["ph"] == "M":
                self.assertIn(event["name"], (
                    "process_name", "thread_name", "thread_sort_index"))
                continue
            self.assertGreaterEqual(event["ts"], 0)
            self.assertEqual("dur" in event, event["ph"] == "X")
            self.assertEqual("id" in event, event["ph"] in "be")
            if event["ph"] == "i":
                self.assertIn(event["s"], "gpt")

    def test_pairs(self):
        self.check_pairs(self.events)

    def check_pairs(self, events):
        """Those of one id lie within each other. Returns how deep they go."""
        open_ones, deepest = collections.defaultdict(list), 0
        for event in events:
            pairs = open_ones[event.get("cat"), event.get("id")]
            if event["ph"] == "b":
                self.assertGreaterEqual(event["ts"], pairs[-1]["ts"] if pairs else 0)
                pairs.append(event)
                deepest = max(deepest, len(pairs))
            if event["ph"] == "e":
                begun = pairs.pop()
                self.assertEqual(begun["name"], event["name"])
                self.assertLessEqual(begun["ts"], event["ts"])
        self.assertFalse(any(open_ones.values()))
        return deepest

    def test_imports(self):
        path = recordings.python_imports()
        events = json.loads(recordings.run("export", path, "--format", "chrome"))["traceEvents"]
        self.assertGreaterEqual(self.check_pairs(events), 2)
        names = [event["name"] for event in events
                 if event["ph"] == "b" and event["cat"] == "import"]
        self.assertLess(names.index("import outer_module"), names.index("import inner_module"))

    def test_one_thing_after_the_other(self):
        lanes = collections.defaultdict(list)
        for event in self.events:
            if event["ph"] == "X":
                lanes[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
        for spans in lanes.values():
            spans.sort()
            for (_, end), (start, _) in zip(spans, spans[1:]):
                # The times are decimals of nanoseconds, these sums binary fractions.
                self.assertLess(end - start, 0.001)

    def test_phases(self):
        phases = [(event["name"], round(event["dur"] * 1000)) for event in self.events
                  if event["ph"] == "X" and event["cat"] == "phase"]
        self.assertEqual(
            phases, [(phase["name"], phase["wallNs"]) for phase in report()["phases"]])

    def test_states(self):
        """What each thread's lane shows is what the report's timeline has."""
        for line in report()["timeline"]:
            lane = [event for event in self.events if event["ph"] == "X"
                    and event["cat"] == "state" and event["tid"] == line["tid"]]
            self.assertEqual(len(lane), len(line["runs"]))
            for event, (start, length, state) in zip(lane, line["runs"]):
                self.assertEqual(event["name"], state)
                self.assertEqual(round(event["ts"] * 1000), start)
                self.assertEqual(round(event["dur"] * 1000), length)

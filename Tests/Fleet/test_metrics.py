"""Figures of launches, read by those that are to read them: Prometheus, its promtool and
node_exporter, and OpenTelemetry's own protocol definitions."""

import bisect
import contextlib
import functools
import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import launches

# Whoever has no Prometheus is not bothered, but CI must have it.
IS_CI = os.environ.get("CI") == "true"


def needs(*tools):
    missing = [tool for tool in tools if not shutil.which(tool)]
    return unittest.skipIf(missing and not IS_CI, f"there is no {', '.join(missing)}")


def exported(format, *paths, options=()):
    return launches.run("export", "--format", format, *options, *paths)


def values(text):
    """Each series' value, by its name with labels."""
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
            for line in text.splitlines() if not line.startswith("#")}


def bounds(text, name="firstlight_launch_seconds"):
    found = {line.partition('le="')[2].partition('"')[0] for line in text.splitlines()
             if line.startswith(name + "_bucket")}
    return sorted(float(bound) for bound in found)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def fetched(url, seconds=60):
    """What a server that has just been started answers, as soon as it does."""
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return answer.read().decode()
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


@contextlib.contextmanager
def started(*command):
    with open(launches.file("server.log"), "w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield server
    finally:
        server.terminate()
        server.wait(timeout=30)


@contextlib.contextmanager
def served(text):
    """An endpoint to be scraped; its port."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


class Numbers(unittest.TestCase):
    """What is told is what report tells."""

    def test_sums_and_counts(self):
        told = values(exported("prometheus", launches.quick()))
        walls = launches.walls(launches.quick())
        self.assertEqual(len(walls), 12)
        labels = [name for name in told if name.startswith("firstlight_launch_seconds_count{")]
        self.assertEqual(len(labels), 1)
        self.assertIn('program="true",version="1.2",machine="', labels[0])
        self.assertEqual(told[labels[0]], 12)
        self.assertAlmostEqual(
            told[labels[0].replace("_count{", "_sum{")], sum(walls), delta=1e-9)

    def test_phases_add_up_to_launches(self):
        told = values(exported("prometheus", launches.quick()))
        whole = sum(value for name, value in told.items()
                    if name.startswith("firstlight_launch_seconds_sum{"))
        parts = sum(value for name, value in told.items()
                    if name.startswith("firstlight_launch_phase_seconds_sum{"))
        self.assertAlmostEqual(whole, parts, delta=1e-9)

    def test_each_launch_is_in_its_bucket(self):
        text = exported("prometheus", launches.quick())
        told = values(text)
        limits = bounds(text)[:-1]
        for bound in limits:
            below = sum(wall <= bound for wall in launches.walls(launches.quick()))
            name = next(name for name in told
                        if name.startswith("firstlight_launch_seconds_bucket{")
                        and name.partition('le="')[2].partition('"')[0]
                        and float(name.partition('le="')[2].partition('"')[0]) == bound)
            self.assertEqual(told[name], below)

    def test_several_files_add_up(self):
        one, other = values(exported("prometheus", launches.quick())), values(
            exported("prometheus", launches.recording()))
        both = values(exported("prometheus", launches.quick(), launches.recording()))
        self.assertEqual(set(both), set(one) | set(other))
        # The same file twice is one.
        self.assertEqual(values(exported("prometheus", launches.quick(), launches.quick())), one)

    def test_failures_are_counted(self):
        path = launches.failing()
        discarded = [launch["discarded"] for launch in launches.report(path)["launches"]]
        told = values(exported("prometheus", path))
        failed = [value for name, value in told.items()
                  if name.startswith("firstlight_launches_failed_total{")
                  and 'reason="failed"' in name]
        self.assertEqual(failed, [discarded.count("failed")])
        self.assertGreaterEqual(failed[0], 2)

    def test_metrickit_has_the_same(self):
        payload, = json.loads(exported("metrickit", launches.quick()))
        self.assertEqual(payload["appVersion"], "1.2")
        histogram = payload["applicationLaunchMetrics"]["histogrammedTimeToFirstDrawKey"]
        buckets = histogram["histogramValue"]
        self.assertEqual(histogram["histogramNumBuckets"], len(buckets))
        self.assertEqual(sorted(buckets, key=int), [str(index) for index in range(len(buckets))])
        self.assertEqual(sum(bucket["bucketCount"] for bucket in buckets.values()), 12)
        walls = launches.walls(launches.quick())
        self.assertAlmostEqual(histogram["sumNs"] / 1e9, sum(walls), delta=1e-9)
        for bucket in buckets.values():
            low, high = (float(bucket[key].removesuffix(" ms")) / 1000
                         for key in ("bucketStart", "bucketEnd"))
            self.assertEqual(sum(low < wall <= high for wall in walls), bucket["bucketCount"])


class Refusals(unittest.TestCase):
    def test_what_is_no_file_of_ours(self):
        other = launches.file("other.firstlight")
        with open(other, "w") as file:
            file.write("no recording")
        # What can be read is told.
        told = values(launches.run(
            "export", "--format", "prometheus", launches.quick(), other, status=1))
        self.assertEqual(told, values(exported("prometheus", launches.quick())))
        launches.run("export", "--format", "prometheus", other, status=1)

    def test_options_without_effect(self):
        for options in [["--phase", "Main"], ["--weight", "cpu"], ["--demangle", "none"]]:
            launches.run("export", "--format", "prometheus", *options, launches.quick(), status=2)
        folder = launches.folder()
        launches.run("export", "--format", "otlp", "--textfile", folder, launches.quick(), status=2)
        launches.run("export", "--format", "folded", launches.recording(), launches.recording(),
                     status=2)


@needs("promtool")
class Promtool(unittest.TestCase):
    def test_clean(self):
        for paths in [(launches.quick(),), (launches.hostile(),),
                      (launches.quick(), launches.hostile(), launches.recording())]:
            finished = subprocess.run(
                ["promtool", "check", "metrics"], input=exported("prometheus", *paths).encode(),
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual((finished.returncode, finished.stdout.decode()), (0, ""))


@needs("prometheus")
class Prometheus(unittest.TestCase):
    """A real one scrapes, and answers."""

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.text = exported(
            "prometheus", launches.quick(), launches.hostile(), launches.failing())
        target = cls.stack.enter_context(served(cls.text))
        port = free_port()
        configuration = launches.file("prometheus.yml")
        with open(configuration, "w") as file:
            file.write(
                "global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: firstlight\n"
                f"  static_configs: [{{targets: ['127.0.0.1:{target}']}}]\n")
        cls.stack.enter_context(started(
            "prometheus", "--config.file", configuration, "--storage.tsdb.path",
            launches.file("tsdb"), "--web.listen-address", f"127.0.0.1:{port}"))
        cls.address = f"http://127.0.0.1:{port}"
        fetched(cls.address + "/-/ready")

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()

    def asked(self, query):
        """Its answer, once it has scraped."""
        url = self.address + "/api/v1/query?" + urllib.parse.urlencode({"query": query})
        end = time.monotonic() + 60
        while time.monotonic() < end:
            result = json.loads(fetched(url))["data"]["result"]
            if result:
                return result
            time.sleep(0.1)
        self.fail(f"no answer to {query}")

    def test_the_quantile_is_within_a_bucket_of_the_truth(self):
        result, = self.asked(
            'histogram_quantile(0.5, firstlight_launch_seconds_bucket{program="true"})')
        told = float(result["value"][1])
        truth = sorted(launches.walls(launches.quick()))
        limits = [0.0] + bounds(self.text)[:-1]
        place = bisect.bisect_left(limits, truth[5])
        self.assertLessEqual(limits[place - 1], told)
        self.assertLessEqual(told, limits[min(place + 1, len(limits) - 1)])

    def test_a_name_from_hell(self):
        names = {result["metric"]["program"] for result in
                 self.asked("firstlight_launch_seconds_count")}
        self.assertEqual(names, {"true", "sh", launches.HOSTILE})

    def test_the_dashboard_shows_something_everywhere(self):
        for panel in dashboard()["panels"]:
            for target in panel["targets"]:
                with self.subTest(panel["title"]):
                    query = re.sub(r"\$(program|version|machine)", ".*", target["expr"])
                    self.assertNotIn("$", query)
                    for result in self.asked(query):
                        self.assertNotEqual(result["value"][1], "NaN")

    def test_phases(self):
        phases = {result["metric"]["phase"] for result in
                  self.asked('firstlight_launch_phase_seconds_count{program="true"}')}
        self.assertIn("Dynamic linking", phases)


@needs("prometheus-node-exporter")
class Textfile(unittest.TestCase):
    def test_it_is_accepted(self):
        folder = launches.file("collector")
        os.mkdir(folder)
        launches.run("export", "--format", "prometheus", "--textfile", folder,
                     launches.quick(), launches.hostile())
        self.assertEqual(os.listdir(folder), ["firstlight.prom"])
        port = free_port()
        with started("prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{port}",
                     "--collector.disable-defaults", "--collector.textfile",
                     f"--collector.textfile.directory={folder}"):
            told = values(fetched(f"http://127.0.0.1:{port}/metrics"))
        self.assertEqual(told["node_textfile_scrape_error"], 0)
        counts = [value for name, value in told.items()
                  if name.startswith("firstlight_launch_seconds_count")]
        self.assertEqual(sorted(counts), [5, 12])

    def test_a_folder_that_is_not_there(self):
        launches.run("export", "--format", "prometheus", "--textfile", launches.file("nowhere"),
                     launches.quick(), status=1)


def dashboard(name="prometheus"):
    path = os.path.join(os.path.dirname(__file__), f"../../dashboards/{name}.json")
    with open(path) as file:
        return json.load(file)


class Dashboard(unittest.TestCase):
    def test_all_of_it_is_in_grafanas_schema(self):
        try:
            from grafana_foundation_sdk.cog.encoder import JSONEncoder
            from grafana_foundation_sdk.cog.plugins import register_default_plugins
            from grafana_foundation_sdk.models.dashboard import Dashboard as Model
        except ImportError:
            if IS_CI:
                raise
            self.skipTest("there is no grafana-foundation-sdk")
        register_default_plugins()
        # Read by Grafana's own types and written again, nothing is lost.
        for name in ("prometheus", "clickhouse"):
            known = json.loads(JSONEncoder().encode(Model.from_json(dashboard(name))))
            self.assertEqual(self.kept(dashboard(name), known), dashboard(name))

    def kept(self, ours, known):
        """Of ours what is in the other."""
        if isinstance(ours, dict) and isinstance(known, dict):
            return {key: self.kept(value, known[key]) for key, value in ours.items()
                    if key in known}
        if isinstance(ours, list) and isinstance(known, list):
            return [self.kept(value, other) for value, other in zip(ours, known)]
        return known


@functools.cache
def protocol():
    """OpenTelemetry's definitions; None: they cannot be had."""
    try:
        from google.protobuf import json_format
        from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
    except ImportError:
        if IS_CI:
            raise
        return None
    return json_format, metrics_service_pb2.ExportMetricsServiceRequest


class OpenTelemetry(unittest.TestCase):
    def setUp(self):
        if protocol() is None:
            self.skipTest("there is no opentelemetry-proto")
        self.text = exported("otlp", launches.quick(), launches.hostile())

    def parsed(self):
        json_format, request = protocol()
        # Fields that it does not know are errors.
        return json_format.Parse(self.text, request())

    def test_points_are_those_of_prometheus(self):
        metrics = self.parsed().resource_metrics[0].scope_metrics[0].metrics
        launch = next(metric for metric in metrics if metric.name == "firstlight.launch")
        resource = {attribute.key: attribute.value.string_value for attribute in
                    self.parsed().resource_metrics[0].resource.attributes}
        self.assertEqual(resource, {
            "service.name": "firstlight", "host.name": os.uname().nodename})
        self.assertEqual(launch.unit, "s")
        told = values(exported("prometheus", launches.quick(), launches.hostile()))
        points = {next(a.value.string_value for a in point.attributes if a.key == "program"): point
                  for point in launch.histogram.data_points}
        self.assertEqual(set(points), {"true", launches.HOSTILE})
        for name, point in points.items():
            self.assertEqual(len(point.bucket_counts), len(point.explicit_bounds) + 1)
            self.assertEqual(sum(point.bucket_counts), point.count)
            self.assertLess(point.start_time_unix_nano, point.time_unix_nano)
            self.assertEqual(list(point.explicit_bounds), sorted(point.explicit_bounds))
        true = points["true"]
        name = next(name for name in told if name.startswith("firstlight_launch_seconds_sum{")
                    and 'program="true"' in name)
        self.assertAlmostEqual(true.sum, told[name], delta=1e-12)
        self.assertEqual(true.count, 12)

    def test_numbers_are_as_the_protocol_wants_them(self):
        """Enums are integers and 64-bit integers are texts, of which its reader is forgiving."""
        scope = json.loads(self.text)["resourceMetrics"][0]["scopeMetrics"][0]
        for metric in scope["metrics"]:
            data = metric.get("histogram") or metric["sum"]
            self.assertEqual(data["aggregationTemporality"], 2)
            for point in data["dataPoints"]:
                for key in ("startTimeUnixNano", "timeUnixNano"):
                    self.assertIsInstance(point[key], str)
                for count in point.get("bucketCounts", []) + [point.get("count", "0")]:
                    self.assertIsInstance(count, str)


class Sending(unittest.TestCase):
    """To a server that speaks OTLP by HTTP, or does not."""

    def sent(self, address, status=0):
        environment = dict(os.environ, XDG_STATE_HOME=launches.file("state"))
        finished = subprocess.run(
            [launches.FIRSTLIGHT, "export", "--otlp", address, launches.quick()],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
        self.assertEqual((finished.returncode, finished.stdout), (status, b""), finished.stderr)
        return finished.stderr.decode()

    @contextlib.contextmanager
    def collector(self, status=200):
        bodies = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                bodies.append((self.path, self.headers["Content-Type"], body, self.headers))
                self.send_response(status)
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                yield server.server_address[1], bodies
            finally:
                server.shutdown()

    def test_what_is_sent_is_what_is_exported(self):
        with self.collector() as (port, bodies):
            self.assertEqual(self.sent(f"http://127.0.0.1:{port}"), "")
        (path, kind, body, _), = bodies
        self.assertEqual((path, kind), ("/v1/metrics", "application/json"))

        def without_times(text):
            found = json.loads(text)
            for metric in found["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]:
                for point in (metric.get("histogram") or metric["sum"])["dataPoints"]:
                    del point["timeUnixNano"]
            return found

        self.assertEqual(without_times(body), without_times(exported("otlp", launches.quick())))

    def test_a_server_that_refuses(self):
        with self.collector(400) as (port, bodies):
            told = self.sent(f"http://127.0.0.1:{port}/x", status=1)
            self.assertIn("refused (status 400)", told)
            self.assertEqual(bodies[0][0], "/x")

    def test_no_secret_is_repeated(self):
        told = self.sent("http://me:hunter2@127.0.0.1", status=2)
        self.assertNotIn("hunter2", told)
        self.assertIn("environment", told)
        with self.collector(400) as (port, _):
            told = self.sent(f"http://127.0.0.1:{port}/x?token=hunter2", status=1)
        self.assertNotIn("hunter2", told)
        names = [name for _, folders, _ in os.walk(launches.file("state")) for name in folders]
        self.assertFalse([name for name in names if "hunter2" in name])

    def test_credentials_come_from_the_environment(self):
        with self.collector() as (port, bodies):
            os.environ["OTEL_EXPORTER_OTLP_HEADERS"] = "Authorization=Basic%20abc=,X-Other=1"
            try:
                self.sent(f"http://127.0.0.1:{port}")
            finally:
                del os.environ["OTEL_EXPORTER_OTLP_HEADERS"]
        headers = bodies[0][3]
        self.assertEqual((headers["Authorization"], headers["X-Other"]), ("Basic abc=", "1"))


if __name__ == "__main__":
    unittest.main()

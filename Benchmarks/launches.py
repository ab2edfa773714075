#!/usr/bin/env python3
"""Where the launch time of programs from Debian goes: records each and prints its phases, of
the median of five launches (docs/launches.md has the CPU times). Programs that are not installed are left out.

    apt-get install gdb mousepad dbus-x11 xvfb x11-utils redis-server nginx-light

numpy is that of the Python that runs this.

usage: launches.py FIRSTLIGHT
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import recording
import servers

ROUNDS = 5
DISPLAY = ":77"


def programs(folder):
    """Each with the options that say when it is ready, and what watches it from outside."""
    redis = servers.redis(folder)
    yield [], [sys.executable, "-c", "import numpy"], None
    yield [], ["gdb", "--version"], None
    yield ["--until", "window"], ["mousepad", "--disable-server"], Mapping
    yield ["--until", "listen"], redis, None
    yield ["--until", "notify"], redis + ["--supervised", "systemd"], None
    yield ["--until", f"listen:{servers.PORT}"], servers.nginx(folder), None


def version(command):
    """The version that the program prints, in a line."""
    if command[-1] == "import numpy":
        words = [command[0], "-c", "import numpy, platform\n"
                 "print('Python', platform.python_version() + ', numpy', numpy.__version__)"]
    else:
        words = [command[0], "-v" if command[0] == "nginx" else "--version"]
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    # redis-server tells its build, too.
    return (done.stdout.strip() or "unknown").splitlines()[0].split(" sha=")[0]


class Mapping:
    """Somebody else who sees windows being mapped: xev on the root window."""

    def __init__(self):
        self.time = None
        self.process = subprocess.Popen(
            ["stdbuf", "-oL", "xev", "-root", "-event", "substructure"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.thread = threading.Thread(target=self.read)
        self.thread.start()
        # Its own window comes first, mapped or not: then it listens.
        time.sleep(1)

    def read(self):
        for line in self.process.stdout:
            if line.startswith("MapNotify") and self.time is None:
                self.time = time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    def close(self):
        self.process.terminate()
        self.thread.join()


def record(firstlight, options, command, path):
    environment = dict(os.environ, DISPLAY=DISPLAY)
    done = subprocess.run(
        [firstlight, "record", "--quiet", "-o", path] + options + ["--"] + command,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command}: status {done.returncode}: {done.stderr}")
    text = subprocess.run(
        [firstlight, "report", "--format", "json", path], capture_output=True, check=True).stdout
    return json.loads(text)


def ready_time(path):
    """On CLOCK_MONOTONIC, in nanoseconds."""
    return recording.rows(path, "ready")[0]["time_ns"]


def milliseconds(nanoseconds):
    return f"{nanoseconds / 1e6:.1f} ms" if nanoseconds else "–"


def length(report):
    return report["ready"]["atNs"] if report.get("ready") else report["launch"]["wallNs"]


def show(report, title, told, options):
    ready = report.get("ready")
    end = f"ready after {milliseconds(ready['atNs'])}" if ready else "ended after " + milliseconds(
        report["launch"]["wallNs"])
    print(f"\n## `{title}`\n\n{told}. {' '.join(options) or 'Until its end'}: {end}, "
          f"CPU {milliseconds(report['launch']['cpuNs'])}, {len(report['threads'])} threads, "
          f"{len(report['libraries'])} libraries, {len(report['initializers'])} initialisers\n")
    print("| phase | wall | CPU | main thread: running | runnable | preempted | blocked |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for phase in report["phases"]:
        main = phase["mainThread"]
        cells = [phase["wallNs"], phase["cpuNs"]] + [
            main[state + "Ns"] for state in ("running", "runnable", "preempted", "blocked")]
        print(f"| {phase['name']} | " + " | ".join(map(milliseconds, cells)) + " |")
    for one in sorted(report["initializers"], key=lambda one: -one["wallNs"])[:2]:
        if one["wallNs"] >= 200_000:
            print(f"\nInitialiser `{one['function']}` ({os.path.basename(one['module'])}): "
                  f"{milliseconds(one['wallNs'])} wall, {milliseconds(one['cpuNs'])} CPU")
    for one in report["findings"]:
        print(f"\nFinding: {milliseconds(one['savingNs'])}: {one['title']}")


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    firstlight = os.path.abspath(sys.argv[1])
    server = None
    if shutil.which("Xvfb"):
        server = subprocess.Popen(["Xvfb", DISPLAY], stderr=subprocess.DEVNULL)
        os.environ["DISPLAY"] = DISPLAY
        time.sleep(1)
    try:
        with tempfile.TemporaryDirectory() as folder:
            for options, command, observer in programs(folder):
                if not shutil.which(command[0]):
                    continue
                path = os.path.join(folder, "launch.firstlight")
                reports, differences = [], []
                for _ in range(ROUNDS):
                    watch = observer() if observer else None
                    reports.append(record(firstlight, options, command, path))
                    if watch:
                        watch.close()
                        differences.append(ready_time(path) - watch.time)
                reports.sort(key=length)
                title = " ".join(command).replace(folder + "/", "").replace(folder, ".").replace(
                    sys.executable, "python3")
                show(reports[len(reports) // 2], title, version(command), options)
                if differences:
                    seen = ", ".join(f"{value / 1e6:+.2f}" for value in differences)
                    print(f"\nReady by Firstlight less ready by xev, in milliseconds: {seen}")
                sys.stdout.flush()
    finally:
        if server:
            server.terminate()


if __name__ == "__main__":
    main()

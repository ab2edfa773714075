#!/usr/bin/env python3
"""How completely real programs are seen: records each, pools enough runs for 300 stacks, and prints
a table for docs/real-programs.md. Programs that are not installed are left out.

usage: real_programs.py FIRSTLIGHT
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

WANTED = 300
RUNS = 60

GO = """
package main

import ("fmt"; "sort")

func work(n int) int {
	s := make([]int, 0)
	for i := 0; i < n; i++ { s = append(s, (i*7919)%10007) }
	sort.Ints(s)
	return s[n/2]
}

func main() {
	c := make(chan int)
	for i := 0; i < 4; i++ { go func() { c <- work(300000) }() }
	t := 0
	for i := 0; i < 4; i++ { t += <-c }
	fmt.Println(t)
}
"""


def programs(folder):
    script = os.path.join(folder, "wrapper.sh")
    with open(script, "w") as file:
        file.write("#!/bin/sh\nexec python3 -c 'import json'\n")
    os.chmod(script, 0o755)
    perl = 'my %h; $h{$_ % 977} .= $_ for 1 .. 400000; print scalar(keys %h), "\\n"'
    yield ["python3", "-c", "import asyncio, json, sqlite3"]
    yield ["git", "-C", os.path.dirname(os.path.abspath(__file__)), "--no-pager", "log", "-p"]
    yield ["gdb", "--version"]
    yield ["node", "-e", "0"]
    yield ["cargo", "--version"]
    yield ["swift", "--version"]
    yield ["perl", "-e", perl]
    yield [script]
    if shutil.which("go"):
        source = os.path.join(folder, "main.go")
        with open(source, "w") as file:
            file.write(GO)
        static = os.path.join(folder, "static-go")
        environment = dict(os.environ, CGO_ENABLED="0", HOME=folder)
        subprocess.run(["go", "build", "-o", static, source], check=True, env=environment)
        yield [static]
    yield ["java", "-version"]


def record(firstlight, command, folder):
    """The JSON of one recording."""
    path = os.path.join(folder, "real.firstlight")
    done = subprocess.run(
        [firstlight, "record", "--quiet", "-o", path, "--"] + command,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SystemExit(f"{command}: status {done.returncode}")
    text = subprocess.run(
        [firstlight, "report", "--format", "json", path], capture_output=True, check=True).stdout
    return json.loads(text)


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    firstlight = os.path.abspath(sys.argv[1])
    print("| program | runs | stacks | complete | launch (median) | phases |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for command in programs(folder):
            if not shutil.which(command[0]):
                continue
            slices = truncated = runs = 0
            walls = []
            while slices < WANTED and runs < RUNS:
                report = record(firstlight, command, folder)
                slices += report["launch"]["slices"]
                truncated += report["launch"]["truncatedStacks"]
                walls.append(report["launch"]["wallNs"])
                runs += 1
            phases = " · ".join(
                f"{p['name']} {p['wallNs'] / 1e6:.1f} ms" for p in report["phases"])
            title = " ".join(command).replace(folder + "/", "").replace("|", "\\|")
            wall = sorted(walls)[len(walls) // 2] / 1e6
            share = 100 * (slices - truncated) / slices if slices else 0
            print(f"| `{title}` | {runs} | {slices} | {share:.1f} % | {wall:.0f} ms | {phases} |",
                  flush=True)


if __name__ == "__main__":
    main()

"""Programs whose output and end are the same each time."""

import os
import shutil

WORDS = "".join(f"{number * 2654435761 % 1000003} line {number}\n" for number in range(20000)).encode()

PYTHON = """
import hashlib, threading
def work(n):
    for _ in range(40): digests[n] = hashlib.sha256(digests[n] * 500).digest()
digests = [bytes([n]) * 32 for n in range(4)]
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(hashlib.sha256(b"".join(digests)).hexdigest())
raise SystemExit(3)
"""
NODE = """
const crypto = require("crypto");
let left = 4;
for (let n = 0; n < 4; n++) crypto.pbkdf2("a" + n, "salt", 2000, 32, "sha256", () => {
    if (--left === 0) { console.log("done"); process.exitCode = 5; } });
"""
PERL = 'my %h; $h{$_ % 977} += $_ for 1..100000; print join(",", map { $h{$_} } sort keys %h), "\\n"; kill 10, $$'
SHELL = "i=0; while [ $i -lt 20 ]; do i=$((i+1)); echo $i | cat; done; exit 9"
QUERY = ("with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000) "
         "select sum(i * i % 7), max(i) from n;")

# Name, words, what it reads.
PROGRAMS = [
    ("true", ["true"], None),
    ("sh", ["sh", "-c", SHELL], None),
    ("bash", ["bash", "-c", "for i in {1..20000}; do ((s += i * i)); done; echo $s; kill -TERM $$"], None),
    ("python", ["python3", "-c", PYTHON], None),
    ("perl", ["perl", "-e", PERL], None),
    ("node", ["node", "-e", NODE], None),
    ("java", ["java", "-XX:+UseSerialGC", "-Xshare:auto", "-version"], None),
    ("git", ["git", "--no-pager", "-c", "color.ui=never", "help", "-g"], None),
    ("sqlite3", ["sqlite3", ":memory:", QUERY], None),
    ("tar", ["tar", "-c", "--mtime=@0", "--sort=name", "-f", "-", "/usr/share/common-licenses"],
     None),
    ("gzip", ["gzip", "-9", "-c", "-n"], WORDS),
    ("xz", ["xz", "-T2", "-c"], WORDS),
    ("sort", ["sort", "-n", "--parallel=4"], WORDS),
    ("awk", ["awk", "{ s[$1 % 97] += $3 } END { for (i = 0; i < 97; i++) print i, s[i] }"], WORDS),
    ("sed", ["sed", "-e", "s/\\([0-9]*\\) line \\([0-9]*\\)/\\2 \\1/"], WORDS),
    ("grep", ["grep", "-c", "7.*7"], WORDS),
    ("sha256sum", ["sha256sum"], WORDS * 20),
    ("cat", ["cat"], WORDS * 20),
    ("gcc", ["gcc", "-x", "c", "-O2", "-S", "-o", "-", "-"], b"int f(int a) { return a * 3; }\n"),
    ("gdb", ["gdb", "-nx", "-batch", "-ex", "print 6 * 7"], None),
    ("dd zero", ["dd", "if=/dev/zero", "bs=8M", "count=2", "status=none"], None),
    ("dd urandom", ["sh", "-c", "dd if=/dev/urandom bs=2M count=3 status=none | wc -c"], None),
    ("pipe closed early", ["sh", "-c", "yes | head -n 10000 | tail -n 1"], None),
]

FIXTURES = """agree 10 / altstack / beacon 20000000 / blocking nanosleep 60 50 / blocking poll 60 50
blocking epoll_wait 60 50 / blocking futex 60 50 / blocking read 60 50 / brief / chain / churn 200
closer / constructors / crash segv / crash abort / crash exit 3 / crash kill 15 / deep 500
eintr 2 5 / forked 4 / forkers fork / forkers vfork 5 / forkers spawn 5 / goroutines / groundtruth
inlined / inversion / launcher / loading LIB/libplugin.so / loading LIB/libplugin.so exit
loading LIB/libplugin.so fork / loading LIB/libplugin.so jump / loading LIB/libplugin.so filter
marked spans / marked forked 4 / masked work 20 / masked wait / nocfi / no-pie / noframes 20000
partial zero 2 / partial urandom 2 / percpu 50000 / pinned / plugins 8 / preserved 60
pysignals.py 2 1 / reexec 1 / renames / sandbox filter 40 / scopes / signals / signposts nested / signposts odd / signposts forked
spin 20000000 / stacks smallest / stacks given / static / static-pie / stripped / threadlife churn 300
threadlife exits 40 / threads 4 3000000 / timers profile / timers posix / tracer 50
urgent handler / urgent late 40 / virtuals 40 / waits nanosleep mutex pipe / watchful / wrapper.sh true"""


def fixtures(folder):
    for words in FIXTURES.replace("\n", " / ").split(" / "):
        name, *rest = words.replace("LIB/", folder + "/").split()
        yield words.replace("LIB/", ""), [os.path.join(folder, name)] + rest, None


def all_programs(folder):
    """Of each: name, words, input, and why it is skipped, or nothing."""
    for name, words, text in PROGRAMS + list(fixtures(folder)):
        yield name, words, text, "" if shutil.which(words[0]) else f"{words[0]} is not there"

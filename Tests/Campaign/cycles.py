"""`attach` and detach, again and again: a server answers as before, nothing of us is left in it, and
it is no slower."""

import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import processes
from processes import Hung, settled

HERE = os.path.dirname(os.path.abspath(__file__))


class Skipped(Exception):
    pass


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Skipped(f"{tool} is not there")


class Server:
    """A program that answers. What it is asked, it answers in the same way each time."""
    questions = 5

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.child = self.begin()
        self.pid = self.child.pid
        self.ready()

    def spawn(self, words, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        log = open(os.path.join(self.folder, "log"), "ab")
        options.setdefault("stdout", log)
        return subprocess.Popen(words, stderr=log, start_new_session=True, **options)

    def ready(self):
        self.port = int(self.child.stdout.readline())
        self.retry(lambda: self.ask(0))

    def retry(self, action, limit=20):
        deadline = time.monotonic() + limit
        while True:
            try:
                return action()
            except OSError:
                if time.monotonic() > deadline or self.child.poll() is not None:
                    raise
                time.sleep(0.05)

    def exchange(self, text, until=None):
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(text)
            found = b""
            while until is None or not until(found):
                data = connection.recv(65536)
                if not data:
                    break
                found += data
            return found

    def ask(self, number):
        request = f"GET /{number % self.questions} HTTP/1.0\r\nHost: a\r\n\r\n"
        return self.exchange(request.encode()).partition(b"\r\n\r\n")[2]

    def log(self):
        with open(os.path.join(self.folder, "log"), "rb") as file:
            return file.read()[-2000:]

    def end(self):
        processes.kill_group(self.child.pid)
        self.child.wait()


class Python(Server):
    def begin(self):
        need("python3")
        return self.spawn(["python3", f"{HERE}/servers/server.py"], stdout=subprocess.PIPE)


class Node(Server):
    def begin(self):
        need("node")
        return self.spawn(["node", f"{HERE}/servers/server.js"], stdout=subprocess.PIPE)


class Go(Server):
    def begin(self):
        need("go")
        program = os.path.join(self.folder, "server")
        environment = os.environ | {"GO111MODULE": "off", "CGO_ENABLED": "0"}
        subprocess.run(["go", "build", "-o", program, f"{HERE}/servers/server.go"], check=True,
                       env=environment)
        return self.spawn([program], stdout=subprocess.PIPE)


class Java(Server):
    def begin(self):
        need("java", "javac")
        subprocess.run(["javac", "-d", self.folder, f"{HERE}/servers/Server.java"], check=True)
        return self.spawn(["java", "-cp", self.folder, "Server"], stdout=subprocess.PIPE)


class Redis(Server):
    def begin(self):
        need("redis-server")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        return self.spawn(["redis-server", "--port", str(self.port), "--save", "", "--appendonly",
                           "no", "--bind", "127.0.0.1", "--dir", self.folder])

    def ready(self):
        self.retry(lambda: self.ask(0))

    def ask(self, number):
        number %= self.questions
        command = f"SET key{number} {'v' * 1000}{number}\r\nGET key{number}\r\nPING\r\n"
        return self.exchange(command.encode(), lambda text: text.endswith(b"+PONG\r\n"))


class Nginx(Server):
    """Its worker is attached to."""

    def begin(self):
        need("nginx")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        for number in range(self.questions):
            with open(os.path.join(self.folder, str(number)), "w") as file:
                file.write(f"{number} " * 5000)
        os.chmod(self.folder, 0o755)
        with open(os.path.join(self.folder, "conf"), "w") as file:
            file.write(f"""
                daemon off; worker_processes 1; pid {self.folder}/pid; error_log {self.folder}/errors;
                events {{ worker_connections 64; }}
                http {{ access_log off; server {{ listen 127.0.0.1:{self.port}; root {self.folder};
                client_body_temp_path {self.folder}/a; proxy_temp_path {self.folder}/b;
                fastcgi_temp_path {self.folder}/c; uwsgi_temp_path {self.folder}/d;
                scgi_temp_path {self.folder}/e; }} }}""")
        return self.spawn(["nginx", "-p", self.folder, "-c", f"{self.folder}/conf"])

    def ready(self):
        self.retry(lambda: self.ask(0))
        self.pid = processes.children(self.child.pid)[0]


class Everything(Server):
    words = ["everything"]
    # How many errors it has told of: it counts them from its beginning.
    errors = 0

    def begin(self):
        program = os.path.join(self.options.fixtures, self.words[0])
        return self.spawn([program] + self.words[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ready(self):
        self.child.stdout.readline()

    def ask(self, number):
        self.child.stdin.write(b"x")
        self.child.stdin.flush()
        state, _, errors = self.child.stdout.readline().strip().rpartition(b" ")
        more, self.errors = int(errors or 0) - self.errors, int(errors or 0)
        return state + b", %d more errors" % more

    def end(self):
        self.child.stdin.close()
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            super().end()


class Urgent(Everything):
    words = ["everything", "urgent"]


SERVERS = {"python": Python, "node": Node, "go": Go, "java": Java, "redis": Redis, "nginx": Nginx,
           "everything": Everything, "everything urgent": Urgent}


def speed(server):
    """The quickest of many answers, in microseconds: what else the machine does is not in it."""
    best = 1 << 60
    for number in range(60):
        start = time.monotonic_ns()
        server.ask(number % server.questions)
        best = min(best, time.monotonic_ns() - start)
    return best // 1000


def cycle(server, expected, before, choice, recording):
    """Yields what is wrong."""
    words = [server.options.firstlight, "attach", "--quiet", "-o", recording]
    is_filtered = choice.random() < 0.5
    words += choice.choice([[], [], [], ["--capture", "ptrace"], ["-F", "4000"]])
    is_interrupted = choice.random() < 0.3
    if not is_interrupted:
        words += ["--duration", f"{choice.randrange(5, 120)}ms"]
    words.append(str(server.pid))
    recorder = processes.start(
        words, preexec_fn=processes.forbid_events if is_filtered else None)
    end = time.monotonic() + choice.random() * 0.15 if is_interrupted else None
    number = 0
    while recorder.poll() is None and number < 100000:
        answer = server.ask(number)
        if answer != expected[number % server.questions]:
            yield f"answers {answer[:200]!r} while recorded"
            break
        number += 1
        if end and time.monotonic() > end:
            recorder.send_signal(signal.SIGINT)
            end = None
    if end:
        recorder.send_signal(signal.SIGINT)
    result = processes.finish(recorder)
    how = " ".join(words) + (" without perf events" if is_filtered else "")
    # Interrupted before it had a handler for that.
    is_early = is_interrupted and result.status in (-signal.SIGINT, 130)
    if result.status != 0 and not is_early or result.error:
        yield f"{how}: {result.short()}"
    for number in range(server.questions):
        answer = server.ask(number)
        if answer != expected[number]:
            yield f"{how}: then it answers {answer[:200]!r}"
    if left := settled(lambda: processes.traces(server.pid), []):
        yield f"{how}: left behind: {left}"
    after = settled(lambda: snapshot(server.pid), before)
    for name, value in after.items():
        if value != before[name]:
            yield f"{how}: {name} was {before[name]}, is {value}"


def snapshot(pid):
    return {"signals": processes.signal_state(pid), "code": processes.code(pid),
            "descriptors": len(processes.descriptors(pid))}


def steady(look):
    """What is seen twice in a row: the end of the last connection may not have been noticed."""
    last = look()
    for _ in range(50):
        time.sleep(0.1)
        now = look()
        if now == last:
            break
        last = now
    return last


def campaign(state, options, count):
    for name, kind in SERVERS.items():
        if options.only and name not in options.only:
            continue
        part = state.part("cycles")
        key = f"done {name}"
        first = part.get(key, 0)
        if first >= count:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                server = kind(options, folder)
            except Skipped as why:
                state.skip("cycles", name, str(why))
                continue
            try:
                if several(state, server, name, range(first, count), key):
                    print(f"cycles {name}: done", flush=True)
            finally:
                server.end()
        state.save()


def report(firstlight, recording):
    """What the recording says of itself: why code of ours stayed, say."""
    try:
        return processes.run([firstlight, "report", recording]).output
    except (Hung, OSError) as error:
        return f"{type(error).__name__}: {error}"


def several(state, server, name, numbers, key):
    # Warm: compilers that work as it runs, caches, threads that are made when they are needed.
    for _ in range(20):
        speed(server)
    expected = [server.ask(number) for number in range(server.questions)]
    before, quick = steady(lambda: snapshot(server.pid)), speed(server)
    recording = os.path.join(server.folder, "recording.firstlight")
    for number in numbers:
        choice = random.Random(number * 31 + len(name))
        try:
            wrong = list(cycle(server, expected, before, choice, recording))
        except (Hung, OSError) as error:
            wrong = [f"{type(error).__name__}: {error}"]
        state.count("cycles", name, 1 if wrong else 0)
        if wrong:
            state.keep("cycles", f"{name.replace(' ', '-')}-{number}", [wrong[0]],
                       {"why": "\n".join(wrong), "log": server.log(),
                        "maps": processes.read(f"/proc/{server.pid}/maps"),
                        "report": report(server.options.firstlight, recording)})
            before = snapshot(server.pid)
        state.part("cycles")[key] = number + 1
        if server.child.poll() is not None:
            state.keep("cycles", f"{name}-{number}-end", [name],
                       {"why": f"it ended with {server.child.returncode}", "log": server.log()})
            return False
        if number % 10 == 9:
            state.save()
    slower = min(speed(server) for _ in range(5)) / quick
    state.count("cycles", name + " afterwards", 1 if slower > 1.3 else 0,
                answers_take=f"{slower:.2f} times as long")
    return True

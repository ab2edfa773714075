"""ClickHouse's engine (chdb, in this process) behind ClickHouse's HTTP interface.

A server is 600 MB of another project's release, chdb is a package. Only one engine lives in a
process, so tests start this file as one of their own: class ClickHouse. What the interface does is
told in ClickHouse's manual (HTTP Interface); of that, this is what shippers, readers and Grafana
use. What goes wrong in a network, or on a full disk, goes wrong here when tests ask for it."""

import argparse
import base64
import contextlib
import gzip
import http.client
import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import zlib

IS_CI = os.environ.get("CI") == "true"

# Names in the URL that are none of the engine's settings, but the server's own.
TRANSPORT = {
    "add_http_cors_header", "buffer_size", "cancel_http_readonly_queries_on_client_close",
    "client_protocol_version", "close_session", "compress", "database", "decompress",
    "default_format", "enable_http_compression", "http_zlib_compression_level", "password", "query",
    "query_id", "quota_key", "role", "send_progress_in_http_headers", "session_check", "session_id",
    "session_timeout", "stacktrace", "user", "wait_end_of_query",
}
# Which status the server answers for which error (HTTPHandler's exceptionCodeToHTTPStatus); 500
# for all others.
STATUSES = {
    **dict.fromkeys([194], 401),
    **dict.fromkeys([192, 193, 516], 403),
    **dict.fromkeys([6, 25, 26, 27, 36, 38, 41, 53, 62, 69, 72, 117, 168, 320, 427], 400),
    **dict.fromkeys([46, 47, 50, 56, 60, 63, 73, 81, 115, 336, 511], 404),
    159: 408, 48: 501, 76: 503, 209: 503, 439: 503,
}
INSERT = re.compile(
    rb"\s*INSERT\s+INTO\s+(?:TABLE\s+)?(?P<table>[\w.`]+)\s*(?:\((?P<columns>[^()]*)\))?"
    rb"\s*(?:SETTINGS\s+(?P<settings>[^()]*?))?\s*FORMAT\s+(?P<format>\w+)[\s;]*", re.IGNORECASE)


class Failure(Exception):
    """What the engine, or the front in its place, refuses."""

    def __init__(self, text, code=None, status=None):
        super().__init__(text)
        found = re.match(r"Code: (\d+)", text)
        self.code = (int(found[1]) if found else 1002) if code is None else code
        self.status = status or STATUSES.get(self.code, 500)


def failure(code, text, name, status=None):
    return Failure(f"Code: {code}. DB::Exception: {text}. ({name})", code, status)


def quoted(text):
    """As a literal of SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


class Engine:
    """One question at a time: what the session is set to holds for one."""

    def __init__(self, folder):
        from chdb import session
        self.spool = os.path.join(folder, "spool")
        os.makedirs(self.spool, exist_ok=True)
        self.session = session.Session(os.path.join(folder, "data"))
        self.lock = threading.Lock()
        self.database = None
        # What a program of its own may leave out, the server demands.
        self.run("SET implicit_select = 0")

    def run(self, sql, format="TabSeparated", params=None):
        try:
            return bytes(self.session.query(sql, format, params=params).bytes())
        except Exception as error:
            raise Failure(str(error)) from None

    def answer(self, sql, body, database, settings, params, format):
        with self.lock:
            if database != self.database:
                self.database = None
                self.run("USE `" + database.replace("\\", "\\\\").replace("`", "\\`") + "`")
                self.database = database
            try:
                for name, value in settings.items():
                    self.run(f"SET {name} = {value if value.isdigit() else quoted(value)}")
                found = INSERT.fullmatch(sql)
                if found:
                    return self.insert(found, body)
                # Body and URL are one text, as at the server.
                sql = sql + b"\n" + body if sql and body else sql or body
                self.refuse_several(sql)
                return self.run(sql, format, params)
            finally:
                for name in settings:
                    with contextlib.suppress(Failure):
                        self.run(f"SET {name} = DEFAULT")

    def refuse_several(self, sql):
        """The engine runs several statements of one text, the server refuses them."""
        text = sql.decode("utf-8", "backslashreplace")
        escaped = text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
        try:
            self.run("SELECT ignore(formatQuery({sql:String}))", params={"sql": escaped})
        except Failure as error:
            # What else the formatter says, the engine itself says with its own words.
            if "Multi-statements" in str(error):
                raise

    def insert(self, found, body):
        """A session takes text alone: a body goes by a file."""
        table = found["table"].decode()
        parts = [part.strip("`") for part in table.split(".")]
        database = quoted(parts[0]) if len(parts) == 2 else "currentDatabase()"
        types = [line.split("\t", 1) for line in self.run(
            "SELECT name, type FROM system.columns WHERE database = " + database
            + f" AND table = {quoted(parts[-1])} ORDER BY position",
            "TSVRaw").decode().splitlines()]
        if not types:
            name = ".".join(parts if len(parts) == 2 else [self.database, *parts])
            raise failure(60, f"Table {name} does not exist", "UNKNOWN_TABLE")
        if found["columns"] is None:
            names = [name for name, _ in types]
        else:
            names = [name.strip().strip("`") for name in found["columns"].decode().split(",")]
        types = dict(types)
        structure = ", ".join(f"`{name}` {types.get(name, 'String')}" for name in names)
        columns = ", ".join(f"`{name}`" for name in names)
        # A block is what the server makes of a body: that many rows become visible at once.
        rows = self.run("SELECT getSetting('max_insert_block_size')").decode().strip()
        settings = (f"max_block_size = {rows}, min_insert_block_size_rows = {rows}, "
                    "max_insert_threads = 1, max_threads = 1")
        if found["settings"]:
            settings += ", " + found["settings"].decode()
        with tempfile.NamedTemporaryFile(dir=self.spool) as file:
            file.write(body)
            file.flush()
            if not body:
                return b""
            return self.run(
                f"INSERT INTO {table} ({columns}) SETTINGS {settings} "
                f"SELECT * FROM file({quoted(file.name)}, {found['format'].decode()}, "
                f"{quoted(structure)})")


class Front(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port, folder, user, password):
        self.engine = Engine(folder)
        self.user, self.password = user, password
        self.faults, self.seen = [], []
        self.guard = threading.Lock()
        super().__init__(("127.0.0.1", port), Handler)

    def handle_error(self, request, address):
        # Whoever is killed while he sends is no news.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, address)

    def fault(self, sql):
        """What is to go wrong with this statement, or nothing."""
        with self.guard:
            for fault in self.faults:
                if fault["count"] > 0 and re.search(
                        fault.get("matching", ""), sql.decode("utf-8", "replace")):
                    fault["count"] -= 1
                    return fault
        return {"kind": None}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Small answers wait for no other.
    disable_nagle_algorithm = True
    timeout = 60

    def do_GET(self):
        self.handle_it(b"")

    def do_POST(self):
        body = self.body()
        if body is None:
            # Whoever promised more than came is gone, and nothing of it counts.
            self.close_connection = True
            return
        self.handle_it(body)

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            parts = []
            while True:
                line = self.rfile.readline(100)
                if not line.strip():
                    return None
                size = int(line.split(b";")[0], 16)
                part = self.rfile.read(size)
                if len(part) != size or self.rfile.readline(3).strip():
                    return None
                if size == 0:
                    return b"".join(parts)
                parts.append(part)
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        return body if len(body) == length else None

    def handle_it(self, body):
        path, _, text = self.path.partition("?")
        if path == "/ping":
            return self.send(200, b"Ok.\n")
        if path == "/front":
            return self.front(body)
        if path != "/":
            return self.send(404, f"There is no handle {path}\n".encode())
        pairs = [pair.partition("=")[::2] for pair in text.split("&") if pair]
        pairs = {urllib.parse.unquote_plus(name):
                 urllib.parse.unquote_to_bytes(value.replace("+", " ")) for name, value in pairs}
        try:
            self.authenticate(pairs)
            if self.headers.get("Content-Encoding") == "gzip":
                size, body = len(body), self.unpacked(body)
            else:
                size = len(body)
            sql = pairs.get("query", b"")
            statement = sql or body
            with self.server.guard:
                self.server.seen.append({
                    "sql": statement[:1000].decode("utf-8", "replace"), "sent": size,
                    "encoding": self.headers.get("Content-Encoding")})
            fault = self.server.fault(statement)
            if fault["kind"] == "slow":
                time.sleep(fault["seconds"])
            if fault["kind"] == "error" and not fault["code"]:
                raise Failure(fault["text"], 0, fault["status"])
            if fault["kind"] == "error":
                raise failure(fault["code"], fault["text"], fault["name"], fault["status"])
            if not sql and not body:
                raise failure(62, "Syntax error: empty query", "SYNTAX_ERROR")
            answer = self.server.engine.answer(
                sql, body,
                self.named(pairs, "database", self.headers.get("X-ClickHouse-Database", "default")),
                {name: value.decode("utf-8", "replace") for name, value in pairs.items()
                 if name not in TRANSPORT and not name.startswith("param_")
                 and re.fullmatch(r"\w+", name)},
                {name.removeprefix("param_"): value.decode("utf-8", "backslashreplace")
                 for name, value in pairs.items() if name.startswith("param_")},
                self.named(pairs, "default_format",
                           self.headers.get("X-ClickHouse-Format", "TabSeparated")))
            if fault["kind"] == "lost":
                # It was done, but nobody hears of it.
                self.close_connection = True
                return
            if fault["kind"] == "half":
                self.send(200, answer[:len(answer) // 2], promised=len(answer) + 100)
                self.close_connection = True
                return
            self.send(200, answer, packed=pairs.get("enable_http_compression") == b"1")
        except Failure as error:
            if not error.code:
                return self.send(error.status, f"{error}\n".encode())
            text = str(error).strip() + " (version 26.9.2.1)\n"
            self.send(error.status, text.encode("utf-8", "replace"),
                      {"X-ClickHouse-Exception-Code": str(error.code)})

    def named(self, pairs, name, other):
        return pairs[name].decode("utf-8", "replace") if pairs.get(name) else other

    def unpacked(self, body):
        try:
            return gzip.decompress(body)
        except (OSError, EOFError, zlib.error):
            raise failure(354, "inflate failed", "ZLIB_INFLATE_FAILED") from None

    def authenticate(self, pairs):
        user, password = "default", ""
        basic = self.headers.get("Authorization", "")
        if self.headers.get("X-ClickHouse-User") or self.headers.get("X-ClickHouse-Key"):
            user = self.headers.get("X-ClickHouse-User", user)
            password = self.headers.get("X-ClickHouse-Key", "")
        elif basic.startswith("Basic "):
            with contextlib.suppress(ValueError):
                text = base64.b64decode(basic[6:]).decode()
                user, _, password = text.partition(":")
        elif "user" in pairs or "password" in pairs:
            user = self.named(pairs, "user", user)
            password = self.named(pairs, "password", "")
        if (user, password) != (self.server.user, self.server.password):
            raise failure(516, f"{user}: Authentication failed: password is incorrect, or there is "
                          "no user with such name", "AUTHENTICATION_FAILED")

    def front(self, body):
        """What tests ask of the front itself: faults are set, and what came is told."""
        with self.server.guard:
            if body:
                self.server.faults = json.loads(body)
                self.server.seen.clear()
            answer = json.dumps({"faults": self.server.faults, "seen": self.server.seen})
        self.send(200, answer.encode())

    def send(self, status, body, headers=None, promised=None, packed=False):
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=UTF-8")
        self.send_header("X-ClickHouse-Server-Display-Name", "front")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if packed and "gzip" in self.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body) if promised is None else promised))
        if promised is not None or self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file", required=True)
    options = parser.parse_args()
    front = Front(options.port, options.folder, os.environ.get("FRONT_USER", "default"),
                  os.environ.get("FRONT_PASSWORD", ""))
    # Whoever reads the file finds all of it, and somebody who listens.
    with open(options.port_file + ".new", "w") as file:
        file.write(str(front.server_address[1]))
    os.replace(options.port_file + ".new", options.port_file)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=front.shutdown).start())
    front.serve_forever()
    with front.engine.lock:
        front.engine.session.close()
    # Threads of the engine are not waited for.
    os._exit(0)


def is_there():
    """Whether the engine can be had."""
    import importlib.util
    return importlib.util.find_spec("chdb") is not None


def fault(kind, count=1, matching="", **more):
    """Of the next COUNT statements that match: "error" (code, name, text, status; of code 0 it is
    what stands before the server that refuses), "slow" (seconds); "lost" and "half": it is done,
    but of the answer comes nothing or a part."""
    return {"kind": kind, "count": count, "matching": matching, **more}


def refusal(status, count=1, matching="", code=1002, name="UNKNOWN_EXCEPTION", text="no"):
    return fault("error", count, matching, status=status, code=code, name=name, text=text)


def full_disk(count=1, matching=""):
    return refusal(500, count, matching, 243, "NOT_ENOUGH_SPACE",
                   "Cannot reserve 1.00 MiB, not enough space")


def server_for(tests, *credentials):
    """A ClickHouse that is there until all tests of a class were run."""
    server = ClickHouse(*credentials).start()
    tests.addClassCleanup(server.remove)
    return server


class ClickHouse:
    """A server of one's own. What it stores outlives stop() and kill()."""

    def __init__(self, user="default", password=""):
        self.folder = tempfile.mkdtemp(prefix="firstlight-clickhouse-")
        self.user, self.password = user, password
        self.process, self.port = None, 0

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.remove()

    def start(self):
        """At the same port as before."""
        ports = os.path.join(self.folder, "port")
        with contextlib.suppress(FileNotFoundError):
            os.remove(ports)
        environment = dict(os.environ, FRONT_USER=self.user, FRONT_PASSWORD=self.password)
        log = os.path.join(self.folder, "log")
        with open(log, "w") as output:
            self.process = subprocess.Popen(
                [sys.executable, __file__, "--folder", self.folder, "--port", str(self.port),
                 "--port-file", ports], env=environment, stdout=output, stderr=output)
        end = time.monotonic() + 60
        while not os.path.exists(ports):
            if self.process.poll() is not None or time.monotonic() > end:
                self.kill()
                with open(log) as file:
                    raise AssertionError(f"the front does not start: {file.read()}")
            time.sleep(0.01)
        with open(ports) as file:
            self.port = int(file.read())
        return self

    def stop(self):
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.kill()
            self.process = None

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def remove(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database="default"):
        return f"http://127.0.0.1:{self.port}/{database}"

    def request(self, body=b"", headers=None, method="POST", path="/", **pairs):
        """Status, headers and body of one answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            text = urllib.parse.urlencode(pairs)
            connection.request(method, path + ("?" + text if text else ""), body, {
                "X-ClickHouse-User": self.user, "X-ClickHouse-Key": self.password,
                **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def query(self, sql, database="default", **pairs):
        """What it answers, as text; names are settings and, with `param_`, parameters."""
        status, _, body = self.request(
            sql if isinstance(sql, bytes) else sql.encode(), database=database, **pairs)
        if status != 200:
            raise Failure(body.decode("utf-8", "replace").strip(), status=status)
        return body.decode("utf-8", "surrogateescape")

    def rows(self, sql, database="default", **pairs):
        """Rows as lists. Of texts that are no UTF-8 ask for hex()."""
        text = self.query(sql, database, default_format="JSONCompactEachRow",
                          output_format_json_quote_64bit_integers="0", **pairs)
        return [json.loads(line) for line in text.splitlines()]

    def value(self, sql, database="default", **pairs):
        (value,), = self.rows(sql, database, **pairs)
        return value

    def run_schema(self, database):
        """As `ship --create-tables` runs it."""
        self.query(f"CREATE DATABASE IF NOT EXISTS {database}")
        for statement in statements(schema()):
            self.query(statement, database)

    def refresh(self, database, *views):
        for view in views or ("daily", "version_medians", "top_functions"):
            self.query(f"SYSTEM REFRESH VIEW {view}", database)
            self.query(f"SYSTEM WAIT VIEW {view}", database)

    def set_faults(self, *faults):
        self.request(json.dumps(faults).encode(), path="/front")

    def seen(self):
        """The statements since faults were last set."""
        return json.loads(self.request(method="GET", path="/front")[2])["seen"]


def schema():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "../../Sources/ClickHouse/SQL/schema.sql")
    with open(path) as file:
        return file.read()


def statements(text):
    """They end with a semicolon at the end of a line."""
    return [part.strip() for part in text.split(";\n") if part.strip()]


def refused_port():
    """A port at which nobody listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


if __name__ == "__main__":
    serve()

"""weston without a screen, and what it logs of the protocol."""

import os
import re
import subprocess
import time

SOCKET = "bench"
LIMIT_SECONDS = 20


class Compositor:
    """A context: within it, programs that are started in its `environment` show their windows in a
    weston of their own. `debug`: as WAYLAND_DEBUG says, what it logs."""

    def __init__(self, folder, fixtures, debug=None):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=folder, WAYLAND_DISPLAY=SOCKET,
                                GDK_BACKEND="wayland", QT_QPA_PLATFORM="wayland", HOME=folder)
        self.environment.pop("DISPLAY", None)
        self.folder = folder
        self.client = [os.path.join(fixtures, "surface"), "roundtrips"]
        self.debug = debug

    def __enter__(self):
        variables = dict(self.environment)
        variables.pop("WAYLAND_DISPLAY")
        if self.debug:
            variables["WAYLAND_DEBUG"] = self.debug
        self.log = open(os.path.join(self.folder, "protocol"), "w+")
        self.process = subprocess.Popen(
            ["weston", "--backend=headless-backend.so", "--no-config", "--idle-time=0",
             "--socket=" + SOCKET, "--log=" + os.path.join(self.folder, "log")],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log, env=variables)
        try:
            self.await_answer()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def await_answer(self):
        """Until a client has had an answer: its start is over then."""
        end = time.monotonic() + LIMIT_SECONDS
        while not os.path.exists(os.path.join(self.folder, SOCKET)):
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit("bench: weston did not start")
            time.sleep(0.01)
        subprocess.run(self.client + ["1"], env=self.environment, stdout=subprocess.DEVNULL,
                       check=True, timeout=LIMIT_SECONDS)

    def first_frame(self):
        """When weston read the first commit of a top-level surface with a buffer, in microseconds of
        CLOCK_REALTIME, as far as 32 bits hold them."""
        self.log.seek(0)
        roles, tops, buffers = {}, set(), set()
        for line in self.log:
            head = re.match(r"\[ *(\d+)\.(\d+)\] (?!.*-> )(\w+)@(\d+)\.(\w+)\((.*)\)", line)
            if not head:
                continue
            stamp = int(head[1]) * 1000 + int(head[2])
            interface, number, request, arguments = head[3], head[4], head[5], head[6]
            if request == "get_xdg_surface":
                roles[re.search(r"xdg_surface@(\d+)", arguments)[1]] = \
                    re.search(r"wl_surface@(\d+)", arguments)[1]
            elif request == "get_toplevel":
                tops.add(roles.get(number))
            elif interface == "wl_surface" and request == "attach":
                (buffers.discard if arguments.startswith("nil") else buffers.add)(number)
            elif interface == "wl_surface" and request == "commit" and number in tops & buffers:
                return stamp
        raise SystemExit("bench: weston saw no frame")

"""What the live tests read: stops in many shapes of stack, in several threads, and says what they are.

At each stop it prints a line for the stage, one for each thread (kernel's id, pthread's id), one for each
of its frames, newest first, and "go". Then it waits for a byte. What waits, and what says where, is in
one line, so that frames say the same line at both.
"""

import asyncio
import contextlib
import functools
import os
import sys
import threading


def say(stage):
    out = ["stage\t" + stage]
    newest = sys._current_frames()
    newest[threading.get_ident()] = sys._getframe(1)
    for thread in threading.enumerate():
        out.append("thread\t%d\t%d" % (thread.native_id, thread.ident))
        frame = newest[thread.ident]
        while frame is not None:
            code = frame.f_code
            name = getattr(code, "co_qualname", code.co_name)
            out.append("frame\t%d\t%s\t%s" % (frame.f_lineno, name, code.co_filename))
            frame = frame.f_back
    text = "\n".join(out) + "\ngo\n"
    os.write(1, text.encode("utf-8", "surrogatepass"))


def block(stage):
    say(stage); os.read(0, 1)


# Threads, each of which waits for ever.


def park(ready, never):
    os.write(ready, b"x"); os.read(never, 1)


def plain(*pipes):
    def inner(depth):
        return inner(depth - 1) if depth else park(*pipes)

    return inner(4)


def generating(*pipes):
    def made():
        yield 1
        yield park(*pipes)

    return list(made())


def sorting(*pipes):
    return sorted([1], key=lambda item: park(*pipes) or item)


class Threading(threading.Thread):
    def __init__(self, *pipes):
        super().__init__(daemon=True)
        self.pipes = pipes

    def run(self):
        return max(map(lambda item: park(*self.pipes) or item, [1]))


def start_threads():
    said, ready = os.pipe()
    never = os.pipe()[0]
    pipes = (ready, never)
    for target in (plain, generating, sorting):
        threading.Thread(target=target, args=pipes, daemon=True).start()
        os.read(said, 1)
    Threading(*pipes).start()
    os.read(said, 1)


# The main thread's stages.


def nested():
    def first(depth):
        def second():
            return [block("nested") for _ in range(1)]

        return first(depth - 1) if depth else second()

    return (lambda: first(3))()


def generators():
    def innermost():
        yield 0
        block("generator")
        yield 1

    def inner():
        yield from innermost()

    def outer():
        yield from (item for item in inner())

    return sum(item for item in outer())


async def leaf(stage):
    block(stage)
    await asyncio.sleep(0)


async def middle(stage):
    return await leaf(stage)


async def values():
    yield 1
    await middle("asynchronous generator")
    yield 2


async def coroutines():
    await middle("coroutine")
    await asyncio.gather(middle("task"), asyncio.sleep(0))
    async for _ in values():
        pass


class Thing:
    def __init__(self, number):
        self.number = number
        if number == 199:
            block("hot initialiser")

    def __call__(self, stage):
        return block(stage)

    @property
    def quality(self):
        block("property")

    def __getattr__(self, name):
        block("attribute")

    def __lt__(self, other):
        block("comparison")
        return False

    def __add__(self, other):
        return block("operator")

    def __enter__(self):
        block("enter")

    def __exit__(self, *reason):
        block("exit")


@contextlib.contextmanager
def managed():
    block("manager")
    yield


def callbacks():
    sorted([1], key=lambda item: block("key") or item)
    list(map(lambda item: block("map"), [1]))
    functools.reduce(lambda a, b: block("reduce"), [1, 2])
    functools.partial(block, "partial")()
    Thing(1)("call")
    Thing(1).quality
    Thing(1).missing
    sorted([Thing(1), Thing(2)])
    Thing(1) + 1
    with Thing(1):
        pass
    with managed():
        pass
    try:
        raise ValueError
    except ValueError:
        block("handler")
    finally:
        block("finally")


def hot():
    """Called often enough for the interpreter to specialise the calls."""
    for number in range(200):
        Thing(number)

    def called(number):
        return number or block("hot call")

    for number in range(100, -1, -1):
        called(number)

    def counting(count):
        for number in range(count):
            yield number
        block("hot generator")

    for _ in range(2):
        for _ in counting(100):
            pass


def compiled():
    names = {"block": block}
    text = "\n" * 300 + "x = [\n  1,\n\n\n block('several lines'),\n\n 5]\n"
    exec(compile(text, "<several>", "exec"), names)
    for name in ("\u00e9t\u00e9", "\u6f22\u5b57", "\U00010380"):
        source = "def %s():\n block('name')\n%s()" % (name, name)
        exec(compile(source, "/made/%s.py" % name, "exec"), names)
    eval("block('eval')", names)
    far = "def far():\n  return (block\n" + "\n" * 1000 + "('far'\n" + "\n" * 500 + "))\n"
    exec(compile(far + "\n" * 70000 + "far()\n", "far.py", "exec"), names)
    lines = ["z += %d%s" % (index, "\n" * (index % 260)) for index in range(400)]
    long = "def long(z):\n " + "\n ".join(lines) + "\n block('long')\n return z\nlong(1)\n"
    exec(compile(long, "long.py", "exec"), names)
    name = "n" * 300
    exec("def %s(): block('long name')\n%s()" % (name, name), names)
    code = (lambda: block("replaced")).__code__
    other = code.replace(co_name="ren\u00e4med", co_filename="other.py", co_firstlineno=5000)
    type(lambda: 0)(other, globals())()


def traced():
    def tracer(frame, event, value):
        return tracer

    def outer():
        inner(
            1)

    def inner(value):

        block("traced")

    sys.settrace(tracer)
    try:
        outer()
    finally:
        sys.settrace(None)


def profiled():
    sys.setprofile(lambda frame, event, value: None)
    try:
        block("profiled")
    finally:
        sys.setprofile(None)


def deep(depth):
    return deep(depth - 1) if depth else block("deep")


def imports():
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    sys.modules["subject"] = sys.modules["__main__"]
    import subject_module
    from subject_package import inner
    import importlib

    importlib.import_module("subject_package.late")
    waiting()


class Finder:
    """Stops importlib while it looks for a module."""

    @staticmethod
    def find_spec(name, path, target=None):
        if name == "subject_missing":
            block("finding")


def finding():
    sys.meta_path.insert(0, Finder)
    try:
        import subject_missing
    except ImportError:
        pass
    sys.meta_path.remove(Finder)


def waiting():
    """One thread imports a module that waits, the main one reports while another waits for that."""
    import subject_package

    subject_package.begun, begin = os.pipe()
    subject_package.end, ended = os.pipe()
    subject_package.begin = begin

    def importing():
        import subject_package.slow

    first = threading.Thread(target=importing, daemon=True)
    first.start()
    os.read(subject_package.begun, 1)
    second = threading.Thread(target=importing, daemon=True)
    second.start()
    while True:
        frame = sys._current_frames().get(second.ident)
        if frame is not None and frame.f_code.co_name == "acquire" and in_futex(second):
            break
    block("waiting")
    os.write(ended, b"x")
    first.join()
    second.join()


def in_futex(thread):
    with open("/proc/self/task/%d/syscall" % thread.native_id) as file:
        return file.read().startswith("202 ")


def main():
    os.write(1, ("version\t%d\t%d\t%d\n" % sys.version_info[:3]).encode())
    start_threads()
    nested()
    generators()
    asyncio.run(coroutines())
    callbacks()
    hot()
    compiled()
    traced()
    profiled()
    deep(700)
    imports()
    finding()
    os.write(1, b"end\n")


if __name__ == "__main__":
    main()

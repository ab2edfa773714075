#!/usr/bin/env python3
# Finds what a signal that is not its own would change: pending signals, handlers, masks, waits, and
# calls that return a part of what was asked for. Its output is the same every time. Arguments: how many
# rounds, and how often it executes itself.
import ctypes, os, select, signal, subprocess, sys, threading, time, errno

libc = ctypes.CDLL(None, use_errno=True)
wrong = []
URG, WINCH = signal.SIGURG, signal.SIGWINCH

def check(name, good):
    if not good: wrong.append(name)

def compute(ms):
    end = time.thread_time() + ms / 1000
    x = 0
    while time.thread_time() < end:
        for i in range(200): x += i * i
    return x

def blocked():
    signal.pthread_sigmask(signal.SIG_BLOCK, {URG})
    check('pending at once', URG not in signal.sigpending())
    compute(3)
    check('pending later', URG not in signal.sigpending())
    check('sigtimedwait', signal.sigtimedwait({URG}, 0) is None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {URG})

def all_blocked():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    check('all pending', not signal.sigpending())
    compute(2)
    check('all pending later', not signal.sigpending())
    signal.pthread_sigmask(signal.SIG_SETMASK, before)

def handled(number):
    seen = []
    signal.signal(number, lambda *a: seen.append(a[0]))
    compute(3)
    check('signal of nobody', not seen)
    os.kill(os.getpid(), number)
    compute(1)
    check('own signal', len(seen) == 1)
    signal.signal(number, signal.SIG_DFL)

class timespec(ctypes.Structure):
    _fields_ = [('s', ctypes.c_long), ('ns', ctypes.c_long)]

def sleeps():
    wanted = timespec(0, 2_000_000)
    start = time.monotonic_ns()
    ctypes.set_errno(0)
    result = libc.nanosleep(ctypes.byref(wanted), None)
    check('nanosleep', result == 0 and time.monotonic_ns() - start >= 2_000_000)
    epoll = select.epoll()
    start = time.monotonic_ns()
    result = libc.epoll_wait(epoll.fileno(), ctypes.create_string_buffer(120), 10, 3)
    check('epoll_wait', result == 0 and time.monotonic_ns() - start >= 2_900_000)
    epoll.close()
    result = libc.usleep(1500)
    check('usleep', result == 0)

def reads():
    fd = os.open('/dev/zero', os.O_RDONLY)
    buffer = ctypes.create_string_buffer(4 << 20)
    for _ in range(3):
        check('read', libc.read(fd, buffer, 4 << 20) == 4 << 20)
    os.close(fd)
    check('getrandom', libc.getrandom(buffer, 1 << 18, 0) == 1 << 18)

def pipes():
    r, w = os.pipe()
    total = 1 << 20
    def reader():
        left = total
        while left:
            got = len(os.read(r, 4096))
            if got == 0: break
            left -= got
    thread = threading.Thread(target=reader); thread.start()
    data = ctypes.create_string_buffer(total)
    check('write', libc.write(w, data, total) == total)
    os.close(w); thread.join(); os.close(r)

def children():
    pid = os.fork()
    if pid == 0:
        seen = []
        signal.signal(URG, lambda *a: seen.append(1))
        compute(2)
        os._exit(len(seen))
    check('child', os.waitpid(pid, 0)[1] == 0)
    check('subprocess', subprocess.run(['/bin/true']).returncode == 0)

def threads():
    def work():
        for _ in range(3):
            compute(1); time.sleep(0.001); blocked_here()
    def blocked_here():
        signal.pthread_sigmask(signal.SIG_BLOCK, {URG})
        check('thread pending', URG not in signal.sigpending())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {URG})
    all = [threading.Thread(target=work) for _ in range(4)]
    for t in all: t.start()
    for t in all: t.join()

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
for _ in range(rounds):
    compute(4); blocked(); compute(2); all_blocked(); compute(2); sleeps(); reads(); compute(1)
    pipes(); threads(); children(); compute(2)
# What comes after is for programs that use the signals themselves.
handled(URG); compute(3); handled(WINCH); compute(3); handled(URG)
left = int(sys.argv[2]) if len(sys.argv) > 2 else 1
print('wrong:', sorted(set(wrong)))
sys.stdout.flush()
if left > 0: os.execv(sys.executable, [sys.executable, sys.argv[0], '1', str(left - 1)])

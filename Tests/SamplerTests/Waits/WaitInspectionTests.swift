import Architecture
import Glibc
import ProfileModel
import System
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

/// The reason for a wait, in surroundings made by hand.
@Suite struct WaitInspectionTests {
    private var process = FakeSurroundings()

    private func reason(_ number: Int32, _ arguments: UInt64...) -> WaitReason {
        let call = WaitingCall(number, .arguments(arguments))
        return WaitInspection(surroundings: process).reason(for: call)
    }

    private static func words(_ values: Int32...) -> [UInt8] {
        values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    }

    private static func timespec(_ seconds: UInt64, _ rest: UInt64) -> [UInt8] {
        [seconds, rest].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
    }

    // MARK: Files

    @Test mutating func descriptorsSayWhatTheyAre() {
        process.links = [
            3: "/var/lib/data", 4: "pipe:[77]", 5: "socket:[78]", 6: "/dev/pts/2",
            7: "anon_inode:[eventfd]", 8: "anon_inode:[signalfd]", 9: "/run/fifo",
            10: "anon_inode:inotify", 11: "strange", 12: "/dev/tty", 13: "anon_inode:[io_uring]",
        ]
        process.pipes = [9]
        #expect(reason(0, 3) == WaitReason(.file, detail: "/var/lib/data"))
        #expect(reason(0, 4) == WaitReason(.pipe))
        #expect(reason(0, 5) == WaitReason(.socket))
        #expect(reason(0, 6) == WaitReason(.terminal, detail: "/dev/pts/2"))
        #expect(reason(0, 7) == WaitReason(.other, detail: "eventfd"))
        #expect(reason(0, 8) == WaitReason(.signal, detail: "signalfd"))
        #expect(reason(0, 9) == WaitReason(.pipe, detail: "/run/fifo"))
        #expect(reason(0, 10) == WaitReason(.other, detail: "inotify"))
        #expect(reason(0, 11) == WaitReason(.other) && reason(0, 99) == WaitReason(.other))
        #expect(reason(0, 12) == WaitReason(.terminal, detail: "/dev/tty"))
        #expect(reason(0, 13) == WaitReason(.ioUring))
        #expect(reason(73, 3) == WaitReason(.lock, detail: "/var/lib/data"))
    }

    @Test mutating func pathsAreReadFromMemory() {
        process.contents = [0x1000: Array("/etc/hosts\0rest".utf8), 0x2000: Array("endless".utf8)]
        #expect(reason(2, 0x1000) == WaitReason(.file, detail: "/etc/hosts"))
        #expect(reason(257, 1, 0x1000).detail == "/etc/hosts")
        #expect(reason(2, 0x2000) == WaitReason(.file))
        #expect(reason(2, 0x3000) == WaitReason(.file))
    }

    @Test mutating func faultsAreTheDisks() {
        #expect(reason(-1) == WaitReason(.other))
        process.isUninterruptible = true
        #expect(reason(-1) == WaitReason(.disk))
    }

    // MARK: Sockets

    @Test mutating func socketsHaveTheirPeers() {
        func ends(
            _ local: [UInt8], _ peer: [UInt8] = [], isListening: Bool = false
        ) -> SocketEnds {
            SocketEnds(
                isListening: isListening, local: SocketAddress(local), peer: SocketAddress(peer))
        }
        let here: [UInt8] = [2, 0, 0x1f, 0x90, 127, 0, 0, 1]
        let there: [UInt8] = [2, 0, 0x15, 0x38, 10, 1, 2, 3]
        process.sockets = [
            3: ends(here, there), 4: ends(here, isListening: true), 5: ends(here), 6: ends([1, 0]),
            7: ends([1, 0], isListening: true),
        ]
        #expect(reason(45, 3) == WaitReason(.socket, detail: "10.1.2.3:5432"))
        #expect(reason(288, 4) == WaitReason(.socket, detail: "listening on 127.0.0.1:8080"))
        #expect(reason(44, 5) == WaitReason(.socket, detail: "127.0.0.1:8080"))
        #expect(reason(47, 6) == WaitReason(.socket))
        #expect(reason(43, 7) == WaitReason(.socket, detail: "listening"))
        process.contents = [0x1000: there + [UInt8](repeating: 0, count: 8)]
        #expect(reason(42, 3, 0x1000, 16).detail == "10.1.2.3:5432")
        #expect(reason(42, 3, 0x1000, 2).detail == nil)
        #expect(reason(42, 3, 0x9000, .max).detail == nil)
    }

    // MARK: Several descriptors

    @Test mutating func polledDescriptors() {
        process.links = [3: "pipe:[1]", 4: "/dev/pts/0", 5: "anon_inode:[eventfd]"]
        process.contents[0x1000] = Self.words(3, 1, -1, 1, 4, 1, 5, 1, 6, 1)
        #expect(
            reason(7, 0x1000, 1) == WaitReason(.poll, detail: "1 descriptor: pipe"))
        #expect(reason(7, 0x1000, 3).detail == "3 descriptors: pipe, /dev/pts/0 …")
        #expect(reason(7, 0x1000, 5).detail == "5 descriptors: pipe, /dev/pts/0, eventfd …")
        #expect(reason(7, 0x8000, 2).detail == "2 descriptors")
        #expect(reason(7, 0x8000, .max).detail == "\(UInt64.max) descriptors")
    }

    @Test mutating func selectedDescriptors() {
        process.links = [3: "pipe:[1]", 9: "pipe:[2]"]
        process.contents[0x1000] = [0b1000, 0b10]
        process.contents[0x2000] = [0, 0b100]
        #expect(reason(23, 10, 0x1000, 0, 0).detail == "2 descriptors: pipe, pipe")
        #expect(reason(23, 10, 0x1000, 0x2000, 0).detail == "2 descriptors: pipe, pipe")
        #expect(reason(23, 11, 0x1000, 0x2000, 0).detail == "3 descriptors: pipe, pipe …")
        #expect(reason(23, 64, 0x1000, 0, 0) == WaitReason(.poll))
        #expect(reason(23, .max, 0x1000, 0, 0) == WaitReason(.poll))
    }

    @Test mutating func epollsDescriptors() {
        process.links = [5: "pipe:[1]", 6: "socket:[9]"]
        process.texts[4] = """
            pos:\t0
            flags:\t02
            tfd:        5 events:       19 data:                5  pos:0 ino:1 sdev:d
            tfd:        6 events:       19 data:                6  pos:0 ino:2 sdev:8
            tfd: 99999999999999 events

            """
        #expect(reason(232, 4) == WaitReason(.poll, detail: "2 descriptors: pipe, socket"))
        #expect(reason(232, 8) == WaitReason(.poll))
        process.texts[4] = ""
        #expect(reason(232, 4).detail == "0 descriptors")
    }

    // MARK: Sleep

    @Test mutating func lengthsOfSleep() {
        let lengths: [(UInt64, UInt64, String)] = [
            (0, 120_000_000, " 120 ms"), (2, 0, " 2 s"), (1, 500_000_000, " 1500 ms"),
            (0, 50_000, " 50 µs"), (0, 7, " 7 ns"), (0, 0, " 0 ns"), (0, 1_000_000_000, ""),
            (.max, 0, ""), (1 << 40, 0, ""),
        ]
        for (seconds, rest, text) in lengths {
            process.contents[0x1000] = Self.timespec(seconds, rest)
            #expect(reason(35, 0x1000) == WaitReason(.sleep, detail: "nanosleep" + text))
        }
        #expect(reason(230, 0, 1, 0x1000).detail == "clock_nanosleep")
        #expect(reason(35, 0x5000).detail == "nanosleep")
    }

    // MARK: Time-outs

    private func timeout(_ operation: UInt64, _ limit: UInt64) -> WaitTimeout? {
        let call = WaitingCall(202, .arguments([0x1000, operation, 0, limit]))
        return WaitInspection(surroundings: process).timeout(of: call, limit: nil)
    }

    @Test mutating func timeoutsOfCalls() {
        process.contents[0x2000] = Self.timespec(0, 500_000_000)
        let length = WaitTimeout.length(.milliseconds(500))
        #expect(timeout(0, 0x2000) == length && timeout(128, 0x2000) == length)
        // FUTEX_WAIT_BITSET has a point in time.
        #expect(timeout(9, 0x2000) == .until(MonotonicTime(nanoseconds: 500_000_000)))
        #expect(timeout(0, 0) == nil && timeout(0, 0x9000) == nil)
    }

    /// Each call has its own place and unit for it.
    @Test mutating func timeoutsOfPolls() {
        process.contents[0x2000] = Self.timespec(1, 500_000)
        func limit(_ number: Int32, _ arguments: [UInt64]) -> WaitTimeout? {
            let registers = Registers.arguments(arguments)
            return WaitInspection(surroundings: process).timeout(
                of: WaitingCall(number, registers), limit: WaitLimit(number, registers))
        }
        let (long, short) = (TimeSpan.milliseconds(1500), TimeSpan(nanoseconds: 1_000_500_000))
        // poll, epoll_wait, epoll_pwait: milliseconds.
        #expect(limit(7, [0x1000, 1, 500]) == .length(.milliseconds(500)))
        #expect(limit(232, [4, 0x1000, 8, 399]) == .length(.milliseconds(399)))
        #expect(limit(281, [4, 0x1000, 8, 399, 0]) == .length(.milliseconds(399)))
        // The kernel looks at 32 bits; a negative number is for ever.
        #expect(limit(7, [0x1000, 1, 0xFFFF_FFFF]) == nil && limit(232, [4, 0, 8, ~0]) == nil)
        // ppoll, pselect6, epoll_pwait2: a timespec. select: a timeval.
        #expect(limit(271, [0x1000, 1, 0x2000]) == .length(short))
        #expect(limit(270, [3, 0x1000, 0, 0, 0x2000]) == .length(short))
        #expect(limit(441, [4, 0x1000, 8, 0x2000]) == .length(short))
        #expect(limit(23, [3, 0x1000, 0, 0, 0x2000]) == .length(long))
        #expect(limit(271, [0x1000, 1, 0]) == nil && limit(23, [3, 0x1000, 0, 0, 0]) == nil)
        // A value that is no time.
        process.contents[0x2000] = Self.timespec(1, 1_000_000)
        #expect(limit(23, [3, 0x1000, 0, 0, 0x2000]) == nil)
        #expect(limit(271, [0x1000, 1, 0x9000]) == nil && limit(0, [0, 0, 5, 5, 0x2000]) == nil)
    }

    /// Of a clock that is 55 years ahead.
    @Test mutating func byTheClockOfRealTime() throws {
        process.contents[0x2000] = Self.timespec(UInt64(time(nil)) + 100, 0)
        let before = MonotonicTime.now
        let found = timeout(9 | 256, 0x2000)
        guard case .until(let end) = try #require(found) else {
            Issue.record("no point in time")
            return
        }
        #expect(end > before && end - before <= .milliseconds(100_001))
    }

    @Test func whoseTimeIsOver() {
        func time(_ milliseconds: Int64) -> MonotonicTime {
            MonotonicTime(nanoseconds: milliseconds * 1_000_000)
        }
        for timeout in [WaitTimeout.length(.milliseconds(200)), .until(time(1200))] {
            #expect(timeout.hasEnded(time(1000), time(1200)))
            #expect(timeout.hasEnded(time(1000), time(1199)))
            #expect(!timeout.hasEnded(time(1000), time(1190)))
            #expect(timeout.words(from: time(1000)) == "200 ms")
        }
        let set = WaitTimeout.until(MonotonicTime(nanoseconds: 1_199_930_000))
        #expect(set.words(from: time(1000)) == "200 ms")
        #expect(WaitTimeout.words(149_999_247) == "150 ms")
        #expect(WaitTimeout.words(12_340_000) == "12.3 ms" && WaitTimeout.words(.max) != "")
        #expect(
            WaitTimeout.words(1_999_999_999) == "2 s" && WaitTimeout.words(1_500_000) == "1500 µs")
        #expect(WaitTimeout.until(time(900)).length(from: time(1000)) == .zero)
        let lock = WaitReason(.condition, detail: "condition variable", place: 8)
        #expect(
            lock.timedOut(after: "200 ms")
                == WaitReason(
                    .sleep, detail: "condition variable, time-out after 200 ms", place: 8))
        let poll = WaitReason(.poll, detail: "1 descriptor: pipe")
        #expect(
            poll.timedOut(after: "2 s")
                == WaitReason(.poll, detail: "1 descriptor: pipe, time-out after 2 s"))
    }

    // MARK: Stopped from outside

    @Test mutating func reasonsForNotRunning() {
        #expect(reason(-1) == WaitReason(.other))
        process.isUninterruptible = true
        #expect(reason(-1) == WaitReason(.disk))
        // A control group of version 1 leaves its threads in state D, one of version 2 in S.
        process.isFrozen = true
        #expect(reason(-1) == WaitReason(.frozen))
        process.isUninterruptible = false
        #expect(reason(-1) == WaitReason(.frozen))
        // The signal may have come in any call.
        process.isStopped = true
        #expect(reason(-1) == WaitReason(.stopped) && reason(202) == WaitReason(.stopped))
    }

    @Test func frozenControlGroups() {
        let freezer = ControlGroupFreezer(
            mounts: """
                30 23 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw
                31 30 0:27 / /sys/fs/cgroup/freezer rw,relatime shared:9 - cgroup cgroup rw,freezer
                32 30 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct
                33 30 0:29 /pod /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
                broken
                """)
        let files = [
            "/sys/fs/cgroup/freezer/paused/freezer.state": "FROZEN\n",
            "/sys/fs/cgroup/freezer/running/freezer.state": "THAWED\n",
            "/sys/fs/cgroup/freezer/cpu/freezer.state": "FROZEN\n",
            "/sys/fs/cgroup/unified/a/cgroup.events": "populated 1\nfrozen 1\n",
            "/sys/fs/cgroup/unified/b/cgroup.events": "populated 1\nfrozen 0\n",
        ]
        func isFrozen(_ groups: String) -> Bool {
            freezer.isFrozen(groups: groups) { files[$0] ?? "" }
        }
        #expect(isFrozen("8:pids:/\n6:freezer:/paused\n0::/\n"))
        #expect(!isFrozen("8:pids:/\n6:freezer:/running\n0::/pod/b\n"))
        #expect(!isFrozen("7:cpu,cpuacct:/cpu\n"))
        #expect(isFrozen("6:freezer:/running\n0::/pod/a\n"))
        #expect(!isFrozen("") && !isFrozen("0::/elsewhere\n") && !isFrozen("6:freezer"))
    }

    // MARK: Children

    @Test mutating func childrenHaveTheirCommands() {
        process.commands = [70: ["/usr/bin/git", "rev-parse", "HEAD"], 71: ["make"]]
        #expect(reason(61, 70) == WaitReason(.child, detail: "git rev-parse", owner: 70))
        #expect(reason(61, 71) == WaitReason(.child, detail: "make", owner: 71))
        #expect(reason(61, 72) == WaitReason(.child, owner: 72))
        let any = UInt64(UInt32.max)
        #expect(reason(61, any) == WaitReason(.child))
        process.children = [70]
        #expect(reason(61, any) == WaitReason(.child, detail: "git rev-parse", owner: 70))
        process.children = [70, 71]
        #expect(reason(61, any) == WaitReason(.child))
        process.texts[5] = "pos:\t0\nPid:\t71\nNSpid:\t71\n"
        process.texts[6] = "Pid:\t-1\n"
        #expect(reason(247, 3, 5) == WaitReason(.child, detail: "make", owner: 71))
        #expect(reason(247, 3, 6) == WaitReason(.child))
        // vfork holds its parent, which cannot be interrupted; a clone that is just busy does not.
        process.children = [71]
        #expect(reason(58) == WaitReason(.other))
        process.isUninterruptible = true
        #expect(reason(58) == WaitReason(.child, detail: "make", owner: 71))
    }

    // MARK: Locks

    @Test mutating func locksAndConditions() {
        process.threads = [11]
        process.contents[0x1000] = Self.words(2, 1, 11, 1)
        #expect(
            reason(202, 0x1000, 128, 2)
                == WaitReason(.lock, detail: "mutex", owner: 11, place: 0x1000))
        #expect(reason(202, 0x1000, 128, 0) == WaitReason(.other, place: 0x1000))
        process.contents[0x2000] = Self.words(11)
        #expect(
            reason(202, 0x2000, 265, 11)
                == WaitReason(.condition, detail: "end of a thread", owner: 11))
    }

    /// A process in a container knows its threads and children by other ids than ours.
    @Test mutating func idsOfAnotherNamespace() {
        process.offset = 1000
        process.threads = [1011]
        process.commands = [1070: ["make"]]
        process.contents[0x1000] = Self.words(2, 1, 11, 1)
        #expect(
            reason(202, 0x1000, 128, 2)
                == WaitReason(.lock, detail: "mutex", owner: 1011, place: 0x1000))
        #expect(reason(61, 70) == WaitReason(.child, detail: "make", owner: 1070))
        process.texts[5] = "Pid:\t1070\nNSpid:\t1070\t70\n"
        #expect(reason(247, 3, 5) == WaitReason(.child, detail: "make", owner: 1070))
    }

    @Test func nothingIsInventedWhereNothingIsKnown() {
        for number in -1...470 as ClosedRange<Int32> {
            let call = WaitingCall(number, .arguments([3, 4, 5, 6, 7, 8]))
            let reason = WaitInspection(surroundings: UnknownSurroundings(isUninterruptible: false))
                .reason(for: call)
            #expect(reason.kind != .lock || [72, 73].contains(number), "\(number)")
            #expect(reason.owner == nil || [61, 247].contains(number), "\(number)")
        }
    }

    // MARK: Once more

    @Test func knownReasonsStay() {
        let held = WaitReason(.lock, detail: "mutex", owner: 4, place: 8)
        // In a moment between two owners.
        #expect(WaitReason(.other, place: 8).replacing(held) == held)
        let handedOn = WaitReason(.lock, detail: "mutex", owner: 5, place: 8)
        #expect(handedOn.replacing(held) == handedOn)
        let named = WaitReason(.child, detail: "git rev-parse", owner: 9)
        #expect(WaitReason(.child, owner: 9).replacing(named) == named)
        #expect(named.replacing(WaitReason(.child, owner: 9)) == named)
        #expect(WaitReason(.child).replacing(named) == named)
    }

    @Test func longDetailsAreCut() {
        #expect(WaitWatch.bounded("short") == "short")
        let path = "/" + String(repeating: "é", count: 300) + "/end"
        let cut = WaitWatch.bounded(path)
        #expect(cut.utf8.count <= 256 && cut.hasPrefix("…") && cut.hasSuffix("/end"))
        #expect(!cut.contains("\u{FFFD}"))
        for length in 250...260 {
            let text = String(repeating: "a", count: length) + String(repeating: "星", count: 90)
            let cut = WaitWatch.bounded(text)
            #expect(cut.utf8.count <= 256 && cut.hasPrefix("aaa") && cut.hasSuffix("…"))
            #expect(!cut.contains("\u{FFFD}"))
        }
    }
}

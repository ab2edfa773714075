package import Architecture
import Glibc
import ProfileModel

// Parses the files under `/proc`. See proc(5) for each file's format.

/// `/proc/PID/task/TID/schedstat`. While the thread stays on its core, the run time moves only at
/// scheduler ticks. It is exact once the thread has left its core.
package struct SchedulerCounters: Hashable, Sendable {
    /// Nanoseconds on a core.
    package var run: Int64
    /// Nanoseconds of waiting for a core.
    package var delay: Int64
    /// How often the thread got a core, by the kernel's count.
    package var timeslices: Int64

    package static let zero = SchedulerCounters(run: 0, delay: 0, timeslices: 0)
}

extension SchedulerCounters {
    package init?(_ text: ProcText) {
        var text = text
        guard let run = text.decimal(), let delay = text.decimal(), let timeslices = text.decimal()
        else { return nil }
        self.init(run: run, delay: delay, timeslices: timeslices)
    }
}

/// `/proc/PID/task/TID/syscall`.
package enum ThreadActivity: Sendable {
    /// On a core, or waiting for one.
    case running
    /// Off the core. The call's number is -1 outside a system call (a page fault, a stop). The
    /// known registers: program counter, stack pointer, and the call's six arguments.
    case blocked(systemCall: Int32, registers: Registers)
}

extension ThreadActivity {
    package init?(_ text: ProcText) {
        var text = text
        guard let first = text.peek() else { return nil }
        if first == UInt8(ascii: "r") {
            self = .running
            return
        }
        var number = SystemCall.outside
        var registers = Registers()
        if first == UInt8(ascii: "-") {
            text.skipWords(1)
        } else {
            guard let value = text.decimal(), let call = Int32(exactly: value) else { return nil }
            number = call
            for register in RegisterOrder.arguments { registers[register] = text.hexadecimal() }
        }
        guard let stackPointer = text.hexadecimal(), let programCounter = text.hexadecimal() else {
            return nil
        }
        registers[Registers.stackPointer] = stackPointer
        registers[Registers.programCounter] = programCounter
        self = .blocked(systemCall: number, registers: registers)
    }
}

/// The parts of `/proc/PID/stat` that the recorder needs.
package struct ProcessStat: Hashable, Sendable {
    package var state: UInt8
    package var flags: Int64
    package var minorFaults: Int64
    /// Faults of the children that it has waited for, and of theirs; every child has some.
    package var childrenFaults: Int64
    package var majorFaults: Int64
    /// CPU time, in clock ticks, of the children that it has waited for, and of theirs.
    package var childrenTicks: Int64
    /// When it began, in clock ticks since the machine's start.
    package var startTicks: Int64
    /// Where the first thread's stack begins; arguments and environment lie above. 0 if we may not
    /// read it.
    package var stackStart: UInt64

    /// `PF_KTHREAD` of the kernel's sched.h: a thread of the kernel, with no program to look at.
    package var isKernelThread: Bool { flags & 0x0020_0000 != 0 }
    /// `PF_FORKNOEXEC`: it has executed no program since it was forked.
    package var hasOnlyForked: Bool { flags & 0x40 != 0 }
    /// `PF_EXITING`: it is about to end.
    package var isEnding: Bool { flags & 0x4 != 0 }
    package var isZombie: Bool { state == UInt8(ascii: "Z") || state == UInt8(ascii: "X") }
}

extension ProcessStat {
    package init?(_ text: ProcText) {
        var text = text
        // The name is in brackets and may itself contain any character.
        guard text.skip(pastLast: UInt8(ascii: ")")) else { return nil }
        text.skipSpaces()
        guard let state = text.peek() else { return nil }
        text.skipWords(6)  // state ppid pgrp session tty_nr tpgid
        guard let flags = text.decimal(), let minor = text.decimal(),
            let ofChildren = text.decimal(), let major = text.decimal()
        else { return nil }
        text.skipWords(3)  // cmajflt utime stime
        guard let user = text.signed(), let system = text.signed() else { return nil }
        text.skipWords(4)  // priority nice num_threads itrealvalue
        let startTicks = text.decimal() ?? 0
        text.skipWords(5)  // vsize … endcode
        self.init(
            state: state, flags: flags, minorFaults: minor, childrenFaults: ofChildren,
            majorFaults: major, childrenTicks: max(0, user &+ system), startTicks: startTicks,
            stackStart: text.unsigned() ?? 0)
    }
}

extension ProcFormats {
    /// How a zombie ended, as waitpid(2) would report it; nil: it has not ended.
    package static func endStatus(inStat text: ProcText) -> Int32? {
        guard ProcessStat(text)?.isZombie == true else { return nil }
        var text = text
        guard text.skip(pastLast: UInt8(ascii: ")")) else { return nil }
        text.skipWords(49)  // state … env_end
        return text.decimal().flatMap { Int32(exactly: $0) }
    }
}

/// How a thread competes for a core, from `/proc/PID/task/TID/stat`. See ``Priority``.
package struct SchedulingClass: Hashable, Sendable {
    package var policy: Int32
    package var nice: Int32
    package var realTime: Int32
}

extension SchedulingClass {
    package init?(_ text: ProcText) {
        var text = text
        guard text.skip(pastLast: UInt8(ascii: ")")) else { return nil }
        text.skipWords(16)  // state … priority
        guard let nice = text.signed().flatMap({ Int32(exactly: $0) }) else { return nil }
        text.skipWords(20)  // num_threads … processor
        guard let realTime = text.decimal().flatMap({ Int32(exactly: $0) }),
            let policy = text.decimal().flatMap({ Int32(exactly: $0) })
        else { return nil }
        self.init(policy: policy, nice: nice, realTime: realTime)
    }
}

/// The parts of `/proc/PID/task/TID/status` that matter when we look at a running thread.
package struct ThreadStatus: Hashable, Sendable {
    package private(set) var blockedSignals: UInt64
    /// The signals that the process has handlers for.
    package private(set) var caughtSignals: UInt64
    private var pendingSignals: UInt64
    private var pendingForProcess: UInt64
    /// SECCOMP_MODE_*: 0 none, 1 strict, 2 filters.
    private var seccomp: Int64
    /// nil: the kernel does not report the number (before Linux 5.9).
    private var filters: Int64?
    /// How often the thread has left its core voluntarily.
    package var voluntary: Int64
    package var forced: Int64
}

extension ThreadStatus {
    package init?(_ text: ProcText) {
        // The lines come in this order.
        var text = text
        var pending = text
        pendingSignals = pending.skip(toLine: "SigPnd:") ? pending.hexadecimal() ?? 0 : 0
        pendingForProcess = pending.skip(toLine: "ShdPnd:") ? pending.hexadecimal() ?? 0 : 0
        guard text.skip(toLine: "SigBlk:"), let blocked = text.hexadecimal() else { return nil }
        blockedSignals = blocked
        var handled = text
        caughtSignals = handled.skip(toLine: "SigCgt:") ? handled.hexadecimal() ?? 0 : 0
        seccomp = text.skip(toLine: "Seccomp:") ? text.decimal() ?? 0 : 0
        var rest = text
        filters = rest.skip(toLine: "Seccomp_filters:") ? rest.decimal() : nil
        guard text.skip(toLine: "voluntary_ctxt_switches:"), let voluntary = text.decimal(),
            text.skip(toLine: "nonvoluntary_ctxt_switches:"), let forced = text.decimal()
        else { return nil }
        self.voluntary = voluntary
        self.forced = forced
    }

    /// The filters that we run under ourselves. They let our handler's calls pass.
    package static let ownFilters = ProcessFiles(pid: getpid()).status("Seccomp_filters:") ?? 0

    /// True if more filters than `usual` watch the thread's system calls. If their number is
    /// unknown: if any filter does.
    package func isFiltered(beyond usual: Int64) -> Bool {
        seccomp == 1 || filters.map { $0 > usual } ?? (seccomp != 0)
    }

    /// True if a signal that was sent to this thread alone has not reached it yet.
    package func hasPending(_ signal: Int32) -> Bool { pendingSignals & Signals.bit(signal) != 0 }
    /// True if one of the program's handlers is about to be called: for a pending signal, or for
    /// the signal that the thread has stopped for.
    package func isInterrupted(besides signal: Int32?) -> Bool {
        let waiting = (pendingSignals | pendingForProcess) & ~blockedSignals
        return caughtSignals & (waiting | (signal.map(Signals.bit) ?? 0)) != 0
    }
    /// True if threads of the process are cancelled (pthread_cancel(3)): the C library's handler must find
    /// them in its own code.
    package var cancelsThreads: Bool { caughtSignals & Signals.bit(32) != 0 }
    package func blocks(_ signal: Int32) -> Bool { blockedSignals & Signals.bit(signal) != 0 }

    /// True if the thread blocks, for more than a moment, a signal that we could send it.
    package var blocksOurs: Bool { !blocksForMoment && (blocks(SIGURG) || blocks(SIGWINCH)) }

    /// True if a C library blocks them, not the program. C libraries keep these two signals for
    /// themselves and block them only when they block all, for example in fork(2). So does our
    /// handler.
    package var blocksForMoment: Bool { blocks(32) && blocks(33) }
}

/// The parts of `/proc/PID/status` about the process as a whole.
package struct ProcessStatus: Hashable, Sendable {
    private var caught: UInt64
    private var ignored: UInt64
    private var thread: ThreadStatus
    /// The process's id in its own namespace.
    package var innerPID: Int32?
    /// True if the kernel checks where functions return to (shadow stacks; Linux 6.6).
    package var hasShadowStack: Bool

    package init?(pid: Int32) {
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/\(pid)/status")
        self.init(buffer.text)
    }

    package init?(_ text: ProcText) {
        guard let thread = ThreadStatus(text), let caught = ProcFormats.mask("SigCgt:", text),
            let ignored = ProcFormats.mask("SigIgn:", text)
        else { return nil }
        self.thread = thread
        self.caught = caught
        self.ignored = ignored
        var end = text
        hasShadowStack =
            end.skip(toLine: Machine.threadFeatures)
            && end.restOfLine().split { $0 == " " || $0 == "\t" }.contains("shstk")
        innerPID = ProcFormats.ids(inStatus: text).last
    }

    package func isFiltered(beyond usual: Int64) -> Bool { thread.isFiltered(beyond: usual) }
    package func catches(_ signal: Int32) -> Bool { caught & Signals.bit(signal) != 0 }
    /// True if the process has any handlers except those that glibc itself needs, which block
    /// nothing.
    package var hasHandlers: Bool { caught & ~(Signals.bit(32) | Signals.bit(33)) != 0 }
    /// True if the process has no handler for the signal, and its first thread does not block it.
    package func leavesAlone(_ signal: Int32) -> Bool { !catches(signal) && !thread.blocks(signal) }
    package func ignores(_ signal: Int32) -> Bool { ignored & Signals.bit(signal) != 0 }
}

package enum Signals {
    /// A signal's place in the masks of `status`.
    package static func bit(_ signal: Int32) -> UInt64 {
        (1...64).contains(signal) ? 1 << UInt64(signal - 1) : 0
    }
}

package enum ProcFormats {
    /// A `Name:   number` line of `status` or `io`.
    package static func field(_ name: StaticString, _ text: ProcText) -> Int64? {
        var text = text
        return text.skip(toLine: name) ? text.decimal() : nil
    }

    /// All numbers of such a line.
    package static func numbers(_ name: StaticString, _ text: ProcText) -> [Int64] {
        var text = text
        guard text.skip(toLine: name) else { return [] }
        var line = ProcText(Array(text.restOfLine().utf8))
        var result: [Int64] = []
        while let number = line.decimal() { result.append(number) }
        return result
    }

    /// The ids of a process or thread: one for each pid namespace, from ours down to its own.
    package static func ids(inStatus text: ProcText) -> [Int32] {
        numbers("NSpid:", text).map { Int32(truncatingIfNeeded: $0) }
    }

    /// As ``field(_:_:)`` for a hexadecimal mask.
    package static func mask(_ name: StaticString, _ text: ProcText) -> UInt64? {
        var text = text
        return text.skip(toLine: name) ? text.hexadecimal() : nil
    }

    /// A thread's name in `stat`, where it is in brackets; nil: there is none.
    package static func name(inStat text: ProcText) -> String? {
        var text = text
        guard text.skip(past: UInt8(ascii: "(")) else { return nil }
        return text.rest(upToLast: UInt8(ascii: ")"))
    }

    /// The core that a thread runs on, or ran on last, in `stat`.
    package static func core(inStat text: ProcText) -> Int32? {
        var text = text
        guard text.skip(pastLast: UInt8(ascii: ")")) else { return nil }
        text.skipWords(36)  // state … exit_signal
        return text.decimal().flatMap { Int32(exactly: $0) }
    }

    /// A thread's name in `comm`, where it ends with a line break; nil: there is none.
    package static func name(inComm text: ProcText) -> String? {
        var text = text
        return text.rest(upToLast: 0x0A).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// One line of `/proc/PID/maps`.
    package struct MapsLine: Hashable, Sendable {
        package var start: UInt64
        package var end: UInt64
        package var isReadable: Bool
        package var isExecutable: Bool
        package var isWritable = false
        package var fileOffset: UInt64
        package var inode: UInt64
        package var path: String
    }

    package static func maps(_ text: ProcText) -> [MapsLine] {
        var lines: [MapsLine] = []
        var text = text
        while !text.isAtEnd {
            if let line = mapsLine(&text) { lines.append(line) }
            text.skip(past: 0x0A)
        }
        return lines
    }

    /// `start-end rwxp offset dev:dev inode   path`
    private static func mapsLine(_ text: inout ProcText) -> MapsLine? {
        guard let start = text.hexadecimal(), text.peek() == UInt8(ascii: "-") else { return nil }
        text.advance()
        guard let end = text.hexadecimal(), end > start else { return nil }
        text.skipSpaces()
        let isReadable = text.peek() == UInt8(ascii: "r")
        text.advance()
        let isWritable = text.peek() == UInt8(ascii: "w")
        text.advance()
        let isExecutable = text.peek() == UInt8(ascii: "x")
        text.skipWords(1)
        guard let offset = text.hexadecimal() else { return nil }
        text.skipWords(1)
        guard let inode = text.unsigned() else { return nil }
        text.skipSpaces()
        return MapsLine(
            start: start, end: end, isReadable: isReadable, isExecutable: isExecutable,
            isWritable: isWritable, fileOffset: offset, inode: inode, path: text.restOfLine())
    }
}

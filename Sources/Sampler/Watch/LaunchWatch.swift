import CSystem
import Glibc
package import ProfileModel
import System

/// Why launches cannot be watched.
package enum LaunchWatchError: Error, Hashable, CustomStringConvertible {
    case notPermitted
    /// The kernel tells nothing: it has no process connector, or we are in a container.
    case silent
    case system(SystemError)

    package var description: String {
        switch self {
        case .notPermitted:
            "cannot watch launches: the kernel tells of other processes only with CAP_NET_ADMIN; run "
                + "as root, or as the service of firstlight-watch.service"
        case .silent:
            "cannot watch launches: the kernel's process connector does not answer (a container has "
                + "none, and a kernel needs CONFIG_PROC_EVENTS); run on the machine itself"
        case .system(let error): "cannot watch launches: \(error.description)"
        }
    }
}

/// Sees every launch on the machine, from outside: the kernel tells of each fork, exec and end (process
/// connector), of what threads had used (taskstats), and of the names of programs (perf events). Nobody
/// is stopped, signalled or looked into.
///
/// It sleeps until the kernel tells something. What is told within ``pause`` is read together.
package final class LaunchWatch {
    /// What ended a wait.
    package enum Wake: Hashable, Sendable {
        case events
        case signal(Int32)
        case deadline
    }

    /// Tells which version of its executable a program is that a process has just executed.
    package typealias Versions = (_ program: WatchedProgram, _ pid: Int32) -> String?

    private let events: Int32
    /// -1: this kernel tells no costs.
    private let costs: Int32
    private let signals: Int32
    /// Empty: perf events cannot be had, and names are read from `/proc`.
    private let rings: [PerfRing]
    private let wanted: WatchedNames
    private let versions: Versions
    private var launches: WatchedLaunches
    private var names = ExecNames()
    private var buffer = [UInt8](repeating: 0, count: 16 << 10)
    private var scratch = ReadBuffer()
    /// Whether this kernel counts what processes read.
    private let isReadCounted: Bool
    /// How many events the kernel had no room for.
    private var drops: Int64 = 0
    private var hasOverrun = false

    /// Tens of thousands of events.
    private static let receiveBytes: Int32 = 16 << 20
    /// Room for the names of a thousand launches on each core.
    private static let pages = 128
    /// So long the kernel may take to answer.
    private static let patience = TimeSpan.milliseconds(1000)
    /// Launches come in groups, and a wake-up costs as much as reading several events.
    private static let pause = TimeSpan.milliseconds(2)
    /// No more at once, that what has ended is kept soon.
    private static let mostAtOnce = 2000
    /// More than there is room for.
    private static let mostDropped = 200_000

    /// - Parameter signals: blocked ones that end a wait.
    package init(
        for wanted: WatchedNames, signals: [Int32], versions: @escaping Versions
    ) throws(LaunchWatchError) {
        self.wanted = wanted
        self.versions = versions
        launches = WatchedLaunches(of: wanted, own: getpid(), tick: Self.tick)
        rings =
            (try? PerfRing.onEachCore(
                pages: Self.pages, "opening the names of programs", fl_open_exec_names)) ?? []
        isReadCounted = access("/proc/self/io", F_OK) == 0
        let costs = fl_open_thread_costs(Self.receiveBytes)
        if costs == -EPERM { throw .notPermitted }
        self.costs = costs < 0 ? -1 : costs
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        self.signals = fl_open_signals(&set)
        events = fl_open_process_events(Self.receiveBytes)
        if events == -EPERM { throw .notPermitted }
        // Another network namespace than the first has none.
        if events == -EPROTONOSUPPORT || events == -ECONNREFUSED { throw .silent }
        do throws(SystemError) {
            try check(events, "listening to processes")
            try check(self.signals, "listening to signals")
        } catch {
            throw .system(error)
        }
        try awaitAnswer()
    }

    deinit { for file in [events, costs, signals] where file >= 0 { close(file) } }

    /// What of the launches cannot be told here, for the user; nil: nothing.
    package var shortcoming: String? {
        if rings.isEmpty {
            return
                "the kernel does not tell names (perf_event_open needs CAP_PERFMON): programs that "
                + "end within a millisecond or two may remain unnamed"
        }
        return costs < 0
            ? "the kernel does not tell what processes have used (no CONFIG_TASKSTATS)" : nil
    }

    package var tally: WatchTally { launches.tally }

    /// How many watched launches are not over.
    package var running: Int { launches.running }

    package func earliest(
        of program: WatchedProgram, since limit: MonotonicTime
    ) -> MonotonicTime? { launches.earliest(of: program, since: limit) }

    /// Waits until something was told, and takes it in: then ``take()`` may have launches.
    ///
    /// - Parameter deadline: nil: for ever.
    package func wait(until deadline: MonotonicTime? = nil) -> Wake {
        let left = deadline.map { max(.zero, $0 - .now).nanoseconds } ?? -1
        fl_await_descriptors([events, signals], 2, left)
        let signal = fl_read_signal(signals)
        // What happened before the signal counts.
        let isTold = readEvents()
        if signal > 0 { return .signal(signal) }
        return isTold ? .events : .deadline
    }

    /// Lets what comes next come together with what follows. A signal ends it.
    package func rest() { fl_await_descriptors([signals], 1, Self.pause.nanoseconds) }

    /// Launches that have ended since the last call.
    package func take() -> [WatchedLaunch] {
        let ended = launches.take()
        guard !isReadCounted else { return ended }
        return ended.map { launch in
            var launch = launch
            launch.counters.readBytes = nil
            return launch
        }
    }

    /// What was executed of the watched programs since the last call, in launches.
    package func takeExecuted() -> [(pid: Int32, program: WatchedProgram)] {
        defer { executed = [] }
        return executed
    }

    private var executed: [(pid: Int32, program: WatchedProgram)] = []

    // MARK: Reading

    private func awaitAnswer() throws(LaunchWatchError) {
        let deadline = MonotonicTime.now + Self.patience
        while .now < deadline {
            fl_await_descriptors([events], 1, max(.zero, deadline - .now).nanoseconds)
            while let message = read(events) {
                guard let event = ProcessEvent(message) else { continue }
                // Others may have asked before us, so that events come first.
                if event.kind == .listening {
                    // Of threads whose ends went by unseen.
                    discardCosts()
                    return
                }
            }
        }
        throw .silent
    }

    /// - Returns: nil: there is nothing more now.
    private func read(_ socket: Int32) -> ArraySlice<UInt8>? {
        let count = fl_read_kernel_message(socket, &buffer, buffer.count)
        if count == -Int(ENOBUFS) {
            if socket == costs { launches.lostCosts() } else { hasOverrun = true }
            return []
        }
        return count > 0 ? buffer.prefix(count) : nil
    }

    private func readEvents() -> Bool {
        var told: [ProcessEvent] = []
        while told.count < Self.mostAtOnce, let message = read(events) {
            if let event = ProcessEvent(message) { told.append(event) }
        }
        let isWhole = !isOverrun(&told)
        // The kernel tells names and costs before what they belong to.
        names.take(rings.map { $0.read() })
        if !isWhole { names.forgetAll() }
        if costs >= 0 {
            while let message = read(costs) {
                for news in ThreadCosts.news(message) { launches.add(news) }
            }
        }
        for event in told { take(event) }
        return !told.isEmpty || !isWhole
    }

    /// Whether the kernel had no room for some events. Then all that it has told by now goes: what is
    /// missing stands somewhere among it.
    private func isOverrun(_ told: inout [ProcessEvent]) -> Bool {
        var lost = newDrops()
        guard lost > 0 else { return false }
        lost += Int64(told.count)
        told = []
        for _ in 0..<Self.mostDropped {
            if read(events) != nil {
                lost += 1
                continue
            }
            let more = newDrops()
            if more == 0 { break }
            lost += more
        }
        launches.lost(lost)
        // Costs are told before ends: those of threads whose ends were just thrown away must not become
        // those of the next thread with the same id.
        discardCosts()
        return true
    }

    private func discardCosts() {
        guard costs >= 0 else { return }
        for _ in 0..<Self.mostDropped where read(costs) == nil { return }
    }

    /// How many more events there was no room for.
    private func newDrops() -> Int64 {
        let least: Int64 = hasOverrun ? 1 : 0
        hasOverrun = false
        let count = fl_count_drops(events)
        guard count >= 0 else { return least }
        defer { drops = count }
        return max(least, Int64(UInt32(truncatingIfNeeded: count &- drops)))
    }

    private func take(_ event: ProcessEvent) {
        guard case .executed(let pid) = event.kind else {
            // A process that nobody has waited for yet still has a clock.
            let clock: TimeSpan? =
                if case .threadEnded(let pid, _, _) = event.kind, launches.isEnded(by: event) {
                    ProcessFiles(pid: pid).cpuTime
                } else {
                    nil
                }
            launches.add(event, clock: clock)
            // Of an exec that failed after the kernel had told its name.
            if case .threadEnded(let pid, let tid, _) = event.kind, pid == tid {
                names.forget(pid, upTo: event.time)
            }
            return
        }
        let program = program(of: pid, at: event.time)
        guard launches.add(event, program: program), let program,
            let watched = WatchedProgram(program.names, inode: program.inode)
        else { return }
        executed.append((pid, watched))
    }

    /// The resolution of the coarse clocks is that of the kernel's ticks.
    private static var tick: TimeSpan {
        var length = timespec()
        guard clock_getres(CLOCK_MONOTONIC_COARSE, &length) == 0 else { return .milliseconds(10) }
        return TimeSpan(
            nanoseconds: Int64(length.tv_sec) &* 1_000_000_000 &+ Int64(length.tv_nsec))
    }

    /// Only what names are looked for in: who executes something may give it millions of words.
    private static func arguments(_ words: some Collection<UInt8>) -> [[UInt8]] {
        Array(words.prefix(mostArgumentBytes))
            .split(separator: 0, maxSplits: mostArguments, omittingEmptySubsequences: false)
            .dropLast().prefix(mostArguments).map(Array.init)
    }

    private static let mostArgumentBytes = 16 << 10
    private static let mostArguments = 16

    // MARK: Names

    /// What a process has executed: as the kernel told it, else as `/proc` shows it if that is still
    /// so.
    private func program(of pid: Int32, at time: MonotonicTime) -> WatchedLaunches.Program? {
        let told = names.take(pid, after: launches.latest(of: pid), upTo: time)
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = max(0, readlink("/proc/\(pid)/exe", &target, target.count))
        let shown = Array(target.prefix(length))
        var names = ProcessNames(command: [], executable: shown, arguments: [])
        if let told {
            names = ProcessNames(
                command: Array(told.command.utf8),
                executable: told.path.isEmpty ? shown : Array(told.path.utf8), arguments: [])
        } else {
            scratch.read(path: "/proc/\(pid)/stat")
            guard let image = ProcessImage(scratch.contents) else { return nil }
            names.command = image.command
        }
        // By now it may have executed another, or have ended and its number be another's.
        if !shown.isEmpty, told.map({ Array($0.path.utf8) == shown }) ?? true {
            scratch.readArguments(of: pid)
            names.arguments = Self.arguments(scratch.contents)
        }
        var program = WatchedLaunches.Program(names: names, inode: told?.inode ?? 0)
        if wanted.include(names), let watched = WatchedProgram(names, inode: program.inode) {
            program.version = versions(watched, pid)
        }
        return program
    }
}

import CSystem
import Glibc
package import ProcessIO
package import ProfileModel
import System

/// Why launches cannot be watched.
package enum LaunchWatchError: Error, Hashable, CustomStringConvertible {
    case notPermitted
    /// The kernel reports nothing: it has no process connector, or we are in a container.
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

/// Sees every launch on the machine from outside. The kernel reports each fork, exec and end
/// (process connector), the threads' use of resources (taskstats), and the names of programs (perf
/// events). No process is stopped, signalled or read.
///
/// It sleeps until the kernel reports something. Reports within ``pause`` are read together.
package final class LaunchWatch {
    /// The reason why a wait ended.
    package enum Wake: Hashable, Sendable {
        case events
        case signal(Int32)
        case deadline
    }

    /// Tells the version of the executable of a program that a process has just executed.
    package typealias Versions = (_ program: WatchedProgram, _ pid: Int32) -> String?

    private let events: Int32
    /// -1: this kernel reports no costs.
    private let costs: Int32
    private let signals: Int32
    /// Empty: perf events are not available, and names are read from `/proc`.
    private let rings: [PerfRing]
    private let wanted: WatchedNames
    private let versions: Versions
    private var launches: WatchedLaunches
    private var names = ExecNames()
    private var buffer = [UInt8](repeating: 0, count: 16 << 10)
    private var scratch = ReadBuffer()
    /// True if this kernel counts the bytes that processes read.
    private let isReadCounted: Bool
    /// How many events the kernel had no room for.
    private var drops: Int64 = 0
    private var hasOverrun = false

    /// Tens of thousands of events.
    private static let receiveBytes: Int32 = 16 << 20
    /// Room for the names of a thousand launches on each core.
    private static let pages = 128
    /// How long the kernel may take to answer.
    private static let patience = TimeSpan.milliseconds(1000)
    /// Launches come in groups, and a wake-up costs as much as reading several events.
    private static let pause = TimeSpan.milliseconds(2)
    /// The most that are read at once, so that ended launches are stored soon.
    private static let mostAtOnce = 2000
    /// More than the kernel has room for.
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
        // Only the initial network namespace has a process connector.
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

    /// The facts about launches that cannot be seen here, for the user; nil: nothing is missing.
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

    /// How many watched launches are under way.
    package var running: Int { launches.running }

    package func earliest(
        of program: WatchedProgram, since limit: MonotonicTime
    ) -> MonotonicTime? { launches.earliest(of: program, since: limit) }

    /// Waits until the kernel reports something, and reads it. After this, ``take()`` may return
    /// launches.
    ///
    /// - Parameter deadline: nil: waits for ever.
    package func wait(until deadline: MonotonicTime? = nil) -> Wake {
        let left = deadline.map { max(.zero, $0 - .now).nanoseconds } ?? -1
        fl_await_descriptors([events, signals], 2, left)
        let signal = fl_read_signal(signals)
        // Events from before the signal count.
        let isTold = readEvents()
        if signal > 0 { return .signal(signal) }
        return isTold ? .events : .deadline
    }

    /// Pauses, so that the next reports can be read together. A signal ends the pause.
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

    /// The watched programs that launches executed since the last call.
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
                // Other processes may have asked before us, so events may come before the answer.
                if event.kind == .listening {
                    // These are costs of threads whose ends we did not see.
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
        let isWhole = !dropOverrun(&told)
        // The kernel reports names and costs before the events that they belong to.
        names.take(rings)
        if !isWhole { names.forgetAll() }
        if costs >= 0 {
            while let message = read(costs) {
                for news in ThreadCosts.news(message) { launches.add(news) }
            }
        }
        for event in told { take(event) }
        return !told.isEmpty || !isWhole
    }

    /// True if the kernel had no room for some events. Then everything reported so far is
    /// discarded: the missing events are somewhere among it.
    private func dropOverrun(_ told: inout [ProcessEvent]) -> Bool {
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
        // Costs are reported before ends. Those of threads whose ends we have just discarded must
        // not be charged to the next thread with the same id.
        discardCosts()
        return true
    }

    private func discardCosts() {
        guard costs >= 0 else { return }
        for _ in 0..<Self.mostDropped where read(costs) == nil { return }
    }

    /// How many more events the kernel had no room for.
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
            // A process still has a clock until its parent has waited for it.
            let clock: TimeSpan? =
                if case .threadEnded(let pid, _, _) = event.kind, launches.isEnded(by: event) {
                    ProcessFiles(pid: pid).cpuTime
                } else {
                    nil
                }
            launches.add(event, clock: clock)
            // Names of execs that failed after the kernel had reported the name.
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

    /// Keeps only as many arguments as the search for names needs: a process may pass millions.
    private static func arguments(_ words: some Collection<UInt8>) -> [[UInt8]] {
        Array(words.prefix(mostArgumentBytes))
            .split(separator: 0, maxSplits: mostArguments, omittingEmptySubsequences: false)
            .dropLast().prefix(mostArguments).map(Array.init)
    }

    private static let mostArgumentBytes = 16 << 10
    private static let mostArguments = 16

    // MARK: Names

    /// The program that a process has executed: as the kernel reported it, else as `/proc` shows it
    /// if it still runs.
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
        // The process may have executed another program since, or have ended and its id be reused.
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

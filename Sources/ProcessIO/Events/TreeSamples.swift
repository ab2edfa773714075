import CSystem
import Glibc
package import ProfileModel
import System

/// The stacks of all threads of a process, and of all threads that it and its children start from
/// now on, taken by the kernel. Each new thread inherits the events (see ``ThreadSamples``), so a
/// process that lives for a millisecond needs no setup of its own. No thread is stopped for these
/// samples.
///
/// Each core's event counts a thread's time on that core only, and its count is not reported. So a
/// thread's CPU time is its number of samples times the interval.
package final class TreeSamples {
    private let rings: [PerfRing]
    private let interval: Int64
    /// How much of a stack each sample holds.
    package let stackBytes: Int
    /// Whether the kernel's code is left out.
    package let isUserOnly: Bool
    /// By thread.
    private var samples = UnreadSamples<Observation>()
    /// By process.
    private var mappings = UnreadSamples<CodeMapped>()
    /// The kernel's other events of these processes; nil: ptrace reports them.
    package let news: ProcessTreeEvents?
    /// nil: another source reports the switches.
    private var switches: TreeSwitches?
    /// How often the kernel had no room for samples.
    package private(set) var lost: Int64 = 0

    package typealias Observation = ThreadSamples.Observation

    /// A file's code, or memory's, was mapped.
    package struct CodeMapped: MomentaryEvent {
        package var time: MonotonicTime
        package var mapping: CodeMapping
    }

    /// Four times perf's default. Where a thread uses more of its stack, stops take the stack.
    private static let stackBytes = 32 << 10
    /// For all cores together.
    private static let mostPages = 2048
    private static let leastPages = 32

    /// - Parameters:
    ///   - pid: of a process with one thread.
    ///   - interval: of each thread's CPU time, in nanoseconds.
    ///   - news: of the same processes.
    ///   - tellsSwitches: whether it also reports when each thread has a core.
    /// - Throws: why the events cannot be opened.
    package init(
        of pid: Int32, interval: Int64, news: ProcessTreeEvents? = nil, tellsSwitches: Bool = false
    ) throws(SystemError) {
        self.interval = interval
        self.news = news
        switches = tellsSwitches ? TreeSwitches() : nil
        stackBytes = Self.stackBytes
        let cores = Int32(clamping: max(1, sysconf(Int32(_SC_NPROCESSORS_CONF))))
        func open(_ core: Int32, _ userOnly: Int32) -> Int32 {
            fl_open_tree_samples(
                pid, core, UInt64(interval), UInt32(Self.stackBytes), userOnly,
                tellsSwitches ? 1 : 0)
        }
        let first = open(0, 0)
        isUserOnly = first < 0 && first != -ENODEV
        if first >= 0 { PerfRing.close(first) }
        var pages = 256
        while pages * Int(cores) > Self.mostPages, pages > Self.leastPages { pages /= 2 }
        var rings: [PerfRing] = []
        for core in 0..<cores {
            let events = open(core, isUserOnly ? 1 : 0)
            // That core is switched off.
            if events == -ENODEV { continue }
            try check(events, "opening the events of a process and its children")
            rings.append(try Self.ring(of: events, pages: &pages))
        }
        guard !rings.isEmpty else {
            throw SystemError("opening the events of a process and its children", code: ENODEV)
        }
        self.rings = rings
    }

    /// Without any samples, but with news.
    package init(news: ProcessTreeEvents) {
        rings = []
        interval = 0
        stackBytes = 0
        isUserOnly = false
        self.news = news
    }

    /// As large as the limit of locked memory allows.
    private static func ring(of events: Int32, pages: inout Int) throws(SystemError) -> PerfRing {
        while true {
            do throws(SystemError) {
                return try PerfRing(copying: events, pages: pages)
            } catch {
                pages /= 2
                guard pages >= leastPages else {
                    PerfRing.close(events)
                    throw error
                }
            }
        }
    }

    /// From now on, a thread's samples are kept until they are taken. Other threads' samples are
    /// not.
    package func follow(_ tid: Int32) { samples.follow(tid) }

    package func forget(_ tid: Int32) { samples.forget(tid) }

    /// A thread's samples since the last call, in order. Their CPU times are unknown, and set to 0.
    ///
    /// - Parameter limit: later ones are left for the next call; nil: there is none.
    package func take(_ tid: Int32, upTo limit: MonotonicTime? = nil) -> [Observation] {
        read()
        return samples.take(tid, upTo: limit)
    }

    /// From now on, the code that a process maps is kept until it is taken.
    package func followCode(of pid: Int32) { mappings.follow(pid) }

    package func forgetCode(of pid: Int32) { mappings.forget(pid) }

    /// The code that a process has mapped since the last call, in order.
    package func takeCode(of pid: Int32, upTo limit: MonotonicTime? = nil) -> [CodeMapping] {
        read()
        return mappings.take(pid, upTo: limit).map(\.mapping)
    }

    /// The first code that it has mapped after a time: its program's, if it executed one at that
    /// time.
    package func firstCode(of pid: Int32, after time: MonotonicTime) -> CodeMapping? {
        read()
        return mappings.first(of: pid, after: time)?.mapping
    }

    /// Whether it reports when each thread has a core.
    package var tellsSwitches: Bool { switches != nil }

    /// When threads had a core, up to the last call or so; all of it with `isLast`.
    package func takeSwitches(isLast: Bool = false) -> [SchedulerRecord] {
        read()
        return switches?.take(isLast: isLast) ?? []
    }

    /// A tick is over.
    package func dropStrays() {
        samples.dropStrays()
        mappings.dropStrays()
    }

    private func read() {
        for ring in rings {
            ring.forEach { record in
                switch record.kind {
                case .sample: add(record)
                case .mapping where news != nil: addMapping(record)
                case .fork, .exit, .switch: switches?.add(record)
                case .lost:
                    lost &+= max(1, record.number(at: 8, as: Int64.self) ?? 1)
                    switches?.addLoss(record)
                default: break
                }
            }
        }
    }

    private func add(_ record: PerfRecords.Record) {
        guard let tid = record.tid,
            let seen = ThreadSamples.observation(record, cpu: 0, chainAt: Self.chainOffset)
        else { return }
        samples.add(seen, of: tid)
    }

    private func addMapping(_ record: PerfRecords.Record) {
        guard let pid = record.process, let time = record.time, let mapping = record.mapping
        else { return }
        mappings.add(CodeMapped(time: time, mapping: mapping), of: pid)
    }

    // pid, tid, time, core; then the kernel's part of the stack.
    private static let chainOffset = 24
}

/// When each thread of a tree of processes has a core.
package struct TreeSwitches {
    /// Not returned yet: another core may still report something older.
    private var waiting: [SchedulerRecord] = []
    private var lastTaken = MonotonicTime.now
    /// The time of the last record. Later records may be lost.
    private var latest = MonotonicTime.now

    package mutating func addLoss(_ record: PerfRecords.Record) {
        guard let time = record.time else { return }
        waiting.append(SchedulerRecord(time, 0, .lost(since: min(latest, time))))
    }

    package mutating func add(_ record: PerfRecords.Record) {
        guard let time = record.time, let tid = record.tid else { return }
        latest = time
        if let child = record.child {
            waiting.append(SchedulerRecord(time, child.tid, .began(creator: tid)))
        } else if let kind = record.switching {
            waiting.append(SchedulerRecord(time, tid, kind))
        }
    }

    package mutating func take(isLast: Bool) -> [SchedulerRecord] {
        let limit = lastTaken
        lastTaken = .now
        waiting.sort { $0.time < $1.time }
        let count =
            isLast ? waiting.count : waiting.firstIndex { $0.time >= limit } ?? waiting.count
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }
}

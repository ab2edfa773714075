import CSystem
import Glibc
package import ProfileModel

/// The stacks of all threads of a process, and of all that it and its children start from now on,
/// taken by the kernel: what it does for one thread (see ``ThreadSamples``) is inherited by each
/// new one, so a process that lives for a millisecond needs nothing of its own. Nobody is stopped
/// for these.
///
/// Of a thread on several cores each core's event counts for itself, and none tells what it has
/// counted: as many intervals as there were samples.
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
    /// What else the kernel tells of the processes; nil: ptrace does.
    package let news: ProcessTreeEvents?
    /// nil: somebody else tells of them.
    private var switches: TreeSwitches?
    /// How often the kernel had no room for samples.
    package private(set) var lost: Int64 = 0

    package typealias Observation = ThreadSamples.Observation

    /// A file's code, or memory's, was mapped.
    package struct CodeMapped: MomentaryEvent {
        package var time: MonotonicTime
        package var mapping: CodeMapping
    }

    /// What `perf` takes by default, four times: where more of a stack is used, stops take it.
    private static let stackBytes = 32 << 10
    /// For all cores together.
    private static let mostPages = 2048
    private static let leastPages = 32

    /// - Parameters:
    ///   - pid: of a process with one thread.
    ///   - interval: of each thread's CPU time, in nanoseconds.
    ///   - news: of the same processes.
    ///   - tellsSwitches: whether it is to tell when each thread has a core, too.
    /// - Throws: why they cannot be had.
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

    /// As large as what may be locked allows.
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

    /// From now on a thread's samples are kept until they are taken. Samples of others are not.
    package func follow(_ tid: Int32) { samples.follow(tid) }

    package func forget(_ tid: Int32) { samples.forget(tid) }

    /// A thread's since the last call, in their order. What it has counted is not known: their CPU
    /// times are 0.
    ///
    /// - Parameter limit: later ones are left for the next call; nil: there is none.
    package func take(_ tid: Int32, upTo limit: MonotonicTime? = nil) -> [Observation] {
        read()
        return samples.take(tid, upTo: limit)
    }

    /// From now on it is kept what code a process maps.
    package func followCode(of pid: Int32) { mappings.follow(pid) }

    package func forgetCode(of pid: Int32) { mappings.forget(pid) }

    /// What a process has mapped since the last call, in order.
    package func takeCode(of pid: Int32, upTo limit: MonotonicTime? = nil) -> [CodeMapping] {
        read()
        return mappings.take(pid, upTo: limit).map(\.mapping)
    }

    /// The first code that it has mapped after a time: its program's, if it has executed one then.
    package func firstCode(of pid: Int32, after time: MonotonicTime) -> CodeMapping? {
        read()
        return mappings.first(of: pid, after: time)?.mapping
    }

    /// Whether it tells when each thread has a core.
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

    // pid, tid, time, core; then where it is in the kernel.
    private static let chainOffset = 24
}

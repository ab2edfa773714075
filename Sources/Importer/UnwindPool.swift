import Glibc
import ProfileModel
import System
import Unwind

/// Unwinds many stacks on all cores. Each worker has its own unwinder. All get the same mappings in
/// the same order, so they number the modules alike. Each worker also interns its stacks in its own
/// table. Only nodes that are new in this table are looked up once more.
///
/// Unsafe code: only one worker at a time touches a job, and no other code does until all workers
/// have been joined.
final class UnwindPool {
    private final class Worker: @unchecked Sendable {
        let unwinder: Unwinder
        private var interner: StackInterner
        /// The recording's handles for the handles of the worker's own table.
        private var ids: [StackID] = []
        /// Updates of mappings that it has not taken yet.
        var updates: [(code: [CodeMapping], time: MonotonicTime)] = []
        var jobs: ArraySlice<StackJob> = []
        private(set) var cpu = TimeSpan.zero
        private(set) var frames = 0

        let opinion = SecondOpinion()

        init(_ engine: UnwindEngine) {
            unwinder = Unwinder(engine: engine, opinion: opinion)
            interner = StackInterner(unwinder: unwinder)
        }

        /// - Returns: the mappings that are new since the last update.
        @discardableResult
        func catchUp() -> [Mapping] {
            let start = CPUClock.ofThread
            defer { cpu = cpu + (CPUClock.ofThread - start) }
            var added: [Mapping] = []
            for update in updates {
                added = unwinder.update(
                    update.code, at: update.time, openAlternative: BuildIDCache.paths)
            }
            updates = []
            return added
        }

        func work() {
            catchUp()
            let start = CPUClock.ofThread
            for job in jobs { frames += job.unwind(with: &interner) }
            cpu = cpu + (CPUClock.ofThread - start)
        }

        func merge(into stacks: inout StackTable) {
            for node in interner.stacks.nodes[ids.count...] {
                let parent = node.parent.map { ids[Int($0.rawValue)] }
                ids.append(stacks.intern(parent: parent, frame: node.frame))
            }
            for job in jobs { job.renumber(ids) }
            jobs = []
        }
    }

    private let workers: [Worker]
    /// Fewer jobs are not worth another thread.
    private static let fewJobs = 64
    private static let mostWorkers = 8

    init(_ engine: UnwindEngine = .quick) {
        let cores = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        workers = (0..<min(max(cores, 1), Self.mostWorkers)).map { _ in Worker(engine) }
    }

    /// How many stacks libunwind finished.
    var savedStacks: Int64 { workers.reduce(0) { $0 + $1.opinion.saved } }

    /// The CPU time of all workers.
    var cpu: TimeSpan { workers.reduce(.zero) { $0 + $1.cpu } }

    /// The number of frames in all unwound stacks.
    var frames: Int { workers.reduce(0) { $0 + $1.frames } }

    var modules: [Module] { workers[0].unwinder.modules }

    func isReadable(_ module: ModuleIndex) -> Bool { workers[0].unwinder.isReadable(module) }

    /// Takes the process's new list of mappings.
    ///
    /// - Returns: the new ones among them.
    func update(_ code: [CodeMapping], at time: MonotonicTime) -> [Mapping] {
        for worker in workers { worker.updates.append((code, time)) }
        return workers[0].catchUp()
    }

    func unwind(_ jobs: [StackJob]) {
        let count = jobs.count < Self.fewJobs ? 1 : workers.count
        let share = (jobs.count + count - 1) / max(count, 1)
        for (index, worker) in workers.prefix(count).enumerated() {
            worker.jobs =
                jobs[min(index * share, jobs.count)..<min((index + 1) * share, jobs.count)]
        }
        let threads = workers[1..<count].map { Self.start($0) }
        workers[0].work()
        for (worker, thread) in zip(workers[1..<count], threads) {
            // A worker without a thread does its work here.
            if let thread { thread.join() } else { worker.work() }
        }
    }

    /// Adds the stacks of the last ``unwind(_:)`` to the recording's table. Workers have the jobs
    /// in order, so the result is the same as with one worker.
    func merge(into stacks: inout StackTable) {
        for worker in workers { worker.merge(into: &stacks) }
    }

    private static func start(_ worker: Worker) -> JobThread<Void>? {
        JobThread {
            worker.work()
            worker.opinion.leaveThread()
        }
    }
}

/// perf keeps copies of recorded files, by build id.
enum BuildIDCache {
    @Sendable static func paths(_ mapping: CodeMapping) -> [String] {
        guard mapping.buildID.count > 1, let home = getenv("HOME") else { return [] }
        let (folder, name) = (mapping.buildID[..<1].hex, mapping.buildID[1...].hex)
        return [String(cString: home) + "/.debug/.build-id/\(folder)/\(name)/elf"]
    }
}

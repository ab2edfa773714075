import Glibc
import ProfileModel
import Unwind

/// Unwinds many stacks on all cores. Each worker has an unwinder of its own, to which the same
/// mappings are told in the same order: so they number the modules alike.
///
/// Unsafe code: a job is touched by one worker at a time, and by nobody else until all have been
/// joined.
final class UnwindPool {
    private final class Worker: @unchecked Sendable {
        let unwinder = Unwinder()
        /// Mappings that it has not been told yet.
        var updates: [(code: [CodeMapping], time: MonotonicTime)] = []
        var jobs: ArraySlice<StackJob> = []
        var cpu = TimeSpan.zero

        /// - Returns: the mappings that were not there before the last update.
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
            for job in jobs { job.unwind(with: unwinder) }
            jobs = []
            cpu = cpu + (CPUClock.ofThread - start)
        }
    }

    private let workers: [Worker]
    /// Fewer are not worth another thread.
    private static let fewJobs = 64
    private static let mostWorkers = 8

    init() {
        let cores = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        workers = (0..<min(max(cores, 1), Self.mostWorkers)).map { _ in Worker() }
    }

    /// The CPU time of all workers.
    var cpu: TimeSpan { workers.reduce(.zero) { $0 + $1.cpu } }

    var modules: [Module] { workers[0].unwinder.modules }

    func isReadable(_ module: ModuleIndex) -> Bool { workers[0].unwinder.isReadable(module) }

    /// Takes the process's new list of mappings.
    ///
    /// - Returns: those that were not there before.
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
            // Without a thread of its own its work is done here.
            if let thread { pthread_join(thread, nil) } else { worker.work() }
        }
    }

    private static func start(_ worker: Worker) -> pthread_t? {
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                // Balanced by the retain below.
                if let argument {
                    Unmanaged<Worker>.fromOpaque(argument).takeRetainedValue().work()
                }
                return nil
            }, Unmanaged.passRetained(worker).toOpaque())
        guard code != 0 else { return thread }
        Unmanaged.passUnretained(worker).release()
        return nil
    }
}

/// perf keeps copies of what it recorded, by build id.
enum BuildIDCache {
    @Sendable static func paths(_ mapping: CodeMapping) -> [String] {
        guard mapping.buildID.count > 1, let home = getenv("HOME") else { return [] }
        let digits = mapping.buildID.map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0" + digits : digits
        }
        return [
            String(cString: home)
                + "/.debug/.build-id/\(digits[0])/\(digits[1...].joined())/elf"
        ]
    }
}

enum CPUClock {
    static var ofThread: TimeSpan {
        var now = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
        return TimeSpan(nanoseconds: Int64(now.tv_sec) &* 1_000_000_000 &+ Int64(now.tv_nsec))
    }
}

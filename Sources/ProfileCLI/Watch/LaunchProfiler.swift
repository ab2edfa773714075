import CSystem
import Glibc
import Launching
import ProfileModel
import Sampler
import System

/// Records some launches of each program with stacks, one in `every`, by a `firstlight attach`
/// process. This takes time and disk space, so only one runs at a time, and only within a budget.
struct LaunchProfiler {
    private struct Recorder {
        var pid: pid_t
        var file: String
    }

    private let every: Int
    /// As a fraction of a core, 0 to 1.
    private let budget: Double
    private let folder: WatchFolder
    private let begun = MonotonicTime.now
    /// Launches of each program since the last recorded one.
    private var launches: [String: Int] = [:]
    private var recorder: Recorder?
    /// Processes that are being recorded or were recorded.
    private var watched: [Int32: MonotonicTime] = [:]
    private var used = TimeSpan.zero
    private(set) var recorded = 0
    /// Launches that were due but could not be recorded.
    private(set) var skipped = 0

    /// `--all` may meet new programs without end.
    private static let mostPrograms = 4096
    private static let duration = "10s"

    init(every: Int, percent: Double, in folder: WatchFolder) {
        (self.every, budget, self.folder) = (every, percent / 100, folder)
    }

    /// A process has executed a program.
    ///
    /// - Parameter hasRoom: true if the files' limit leaves room.
    mutating func executed(
        _ program: WatchedProgram, by pid: Int32, hasRoom: @autoclosure () -> Bool, date: Int64
    ) {
        if launches.count >= Self.mostPrograms { launches = [:] }
        let count = launches[program.executable + "\0" + program.name, default: 0] + 1
        launches[program.executable + "\0" + program.name] = count % every
        guard count >= every else { return }
        guard recorder == nil, isWithinBudget, hasRoom() else {
            skipped += 1
            return
        }
        start(pid, to: folder.newRecording(of: program.name, date: date))
    }

    private var isWithinBudget: Bool {
        let time = MonotonicTime.now - begun
        return Double(used.nanoseconds) <= budget * Double(time.nanoseconds)
    }

    private mutating func start(_ pid: Int32, to file: String) {
        let words = [
            "firstlight", "attach", "\(pid)", "-o", file, "--duration", Self.duration, "--quiet",
        ]
        guard let child = Self.spawn("/proc/self/exe", words) else {
            skipped += 1
            return
        }
        recorder = Recorder(pid: child, file: file)
        // Processes of launches that were not stored remain here.
        if watched.count >= Self.mostPrograms { watched = [:] }
        watched[pid] = .now
    }

    /// True if a launch that has ended was recorded, or was being recorded.
    ///
    /// - Parameter begun: the launch's begin: its id may have belonged to another process before.
    mutating func wasRecorded(_ pid: Int32, begun: MonotonicTime) -> Bool {
        watched.removeValue(forKey: pid).map { $0 >= begun } ?? false
    }

    /// Takes the status of a recorder that has ended.
    mutating func reap(waiting: Bool = false) {
        guard let recorder else { return }
        var (status, usage): (Int32, rusage) = (0, rusage())
        let result = try? retrying {
            wait4(recorder.pid, &status, waiting ? 0 : WNOHANG, &usage)
        }
        guard result != 0 else { return }
        self.recorder = nil
        guard result == recorder.pid else { return }
        used = used + Self.span(usage.ru_utime) + Self.span(usage.ru_stime)
        // If the launch ended before the recorder started, there is no file.
        if status == 0, access(recorder.file, F_OK) == 0 { recorded += 1 } else { skipped += 1 }
    }

    /// Lets the recorder complete its recording.
    mutating func end() {
        guard let recorder else { return }
        kill(recorder.pid, SIGTERM)
        reap(waiting: true)
    }

    private static func span(_ time: timeval) -> TimeSpan {
        TimeSpan(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_usec) &* 1000)
    }

    /// Not at a lower priority than ours: a recorder without a core keeps the program stopped.
    private static func spawn(_ path: String, _ words: [String]) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (stream, flags) in [(0, O_RDONLY), (1, O_WRONLY), (2, O_WRONLY)] as [(Int32, Int32)] {
            posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", flags, 0)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        // We pass on a terminal's Ctrl-C.
        posix_spawnattr_setpgroup(&attributes, 0)
        let wanted = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(wanted))
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var pid: pid_t = 0
        return posix_spawn(&pid, path, &actions, &attributes, &arguments, environ) == 0 ? pid : nil
    }
}

import CSystem
import ELF
import Glibc
import Launching
import ProfileModel
import Recording
import Report
import Sampler
import System

/// A watch in progress: launches are stored as they end, and reported.
struct WatchRun {
    private let options: WatchOptions
    private let folder: WatchFolder
    private let console: Console
    private let watch: LaunchWatch
    private var keeper: LaunchKeeper
    private var profiler: LaunchProfiler?
    private var push: MetricsPush?
    private var notKept = 0
    /// Why launches cannot be stored now; nil: there is no problem.
    private var problem: RecordingError?
    private var toldLost: (events: Int64, time: MonotonicTime)?
    private var hasToldDropping = false
    private var isRead = true
    /// Launches that were stored but not reported, because the output is read too slowly.
    private var untold = 0

    /// Losses come in groups.
    private static let lossInterval = TimeSpan.milliseconds(60_000)

    init(
        _ options: WatchOptions, in folder: WatchFolder, _ console: Console
    ) throws(LaunchWatchError) {
        (self.options, self.folder, self.console) = (options, folder, console)
        isRead = options.tellsLaunches
        keeper = LaunchKeeper(
            in: folder, on: .here, LaunchKeeper.Limits(bytes: options.keep))
        profiler = options.profileEvery.map { every in
            LaunchProfiler(every: every, percent: options.profileBudget, in: folder)
        }
        push = MetricsPush(options, console)
        let versions = Versions()
        watch = try LaunchWatch(
            for: options.names, signals: WatchSignals.ending + WatchSignals.others,
            versions: { versions.known.version(of: $0, running: $1) })
        if let shortcoming = watch.shortcoming { console.complain(shortcoming) }
        folder.removeUnbegun()
        keeper.keepToBound()
        console.complain(WatchWords.watching(options.names, in: folder.path))
    }

    private final class Versions {
        var known = BuildVersions()
    }

    mutating func untilEnded() {
        while true {
            let wake = watch.wait(until: deadline)
            takeLaunches()
            if case .signal(let signal) = wake {
                if WatchSignals.ending.contains(signal) { break }
                if signal == SIGHUP { keeper.finishAll() }
            }
            profiler?.reap()
            if keeper.hasOpenFiles { keeper.finishOld(at: .now) }
            push?.push()
            tellLosses()
            if wake == .events { watch.rest() }
        }
        end()
    }

    /// When the next action is due without any event; nil: never.
    private var deadline: MonotonicTime? {
        let now = LaunchKeeper.Moment.now
        let day = TimeSpan(nanoseconds: LaunchKeeper.Moment.day)
        let midnight = keeper.hasOpenFiles ? now.time + (day - now.sinceMidnight) : nil
        return [midnight, push?.due].compactMap { $0 }.min()
    }

    private mutating func end() {
        // Stored first, since the recorder or the server may take any time.
        keeper.finishAll()
        profiler?.end()
        keeper.keepToBound()
        push?.end()
        let summary = WatchWords.Summary(
            kept: keeper.kept, notKept: notKept, running: watch.running, tally: watch.tally,
            dropped: keeper.dropped, recorded: profiler?.recorded ?? 0,
            notRecorded: profiler?.skipped ?? 0)
        console.complain(summary.text)
    }

    // MARK: Launches

    private mutating func takeLaunches() {
        let now = LaunchKeeper.Moment.now
        for (pid, program) in watch.takeExecuted() {
            profiler?.executed(program, by: pid, hasRoom: keeper.hasRoom, date: now.date)
        }
        for launch in watch.take() { keep(launch, at: now) }
    }

    private mutating func keep(_ watched: WatchedLaunch, at now: LaunchKeeper.Moment) {
        let watch = watch
        do throws(RecordingError) {
            let kept = try keeper.keep(
                watched,
                earliest: watch.earliest(
                    of: watched.program, since: now.time - now.sinceMidnight),
                isRecorded: profiler?.wasRecorded(watched.pid, begun: watched.begun) ?? false,
                at: now)
            if problem != nil { console.complain("launches are kept again") }
            problem = nil
            tell(kept, of: watched)
            push?.add(kept.measurement)
        } catch {
            notKept += 1
            // Complain once, not for each launch while the disk is full.
            if problem == nil { console.complain("launches cannot be kept: \(error.description)") }
            problem = error
        }
        if keeper.dropped.files > 0, !hasToldDropping {
            hasToldDropping = true
            console.complain(WatchWords.dropped(limit: options.keep, in: folder.path))
        }
    }

    private mutating func tell(_ kept: LaunchKeeper.Kept, of watched: WatchedLaunch) {
        guard isRead, takesOutput() else { return }
        do throws(Console.Failure) {
            try console.write(WatchWords.kept(kept, of: watched))
        } catch {
            // Launches are stored even if the reader has closed the output.
            isRead = false
            console.complain("standard output was closed; launches are still stored")
        }
    }

    /// True if standard output accepts a line. We do not wait for it, because events would be lost
    /// during the wait.
    private mutating func takesOutput() -> Bool {
        var request = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        if poll(&request, 1, 0) > 0 { return true }
        untold += 1
        if untold == 1 {
            console.complain(
                "standard output is full; launches are still stored, but not all are printed")
        }
        return false
    }

    // MARK: Losses

    private mutating func tellLosses() {
        let tally = watch.tally
        guard tally.lostEvents != toldLost?.events ?? 0 else { return }
        if let told = toldLost, .now - told.time < Self.lossInterval { return }
        toldLost = (tally.lostEvents, .now)
        console.complain(WatchWords.lost(tally.lostEvents))
    }
}

extension LaunchKeeper.Moment {
    static var now: LaunchKeeper.Moment {
        LaunchKeeper.Moment(time: .now, date: WallClock.now)
    }
}

/// The signals that a watch takes from a queue.
enum WatchSignals {
    static let ending = [SIGINT, SIGTERM, SIGQUIT]
    /// SIGHUP: close the folder's files. SIGCHLD: a recorder of ours has ended.
    static let others = [SIGHUP, SIGCHLD]

    /// Call it before the process has any other thread.
    static func block() {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in ending + others { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // If it stayed ignored, we would not learn of our recorders' ends.
        signal(SIGCHLD, SIG_DFL)
        // Reaching a limit of file size is an error like any other.
        signal(SIGXFSZ, SIG_IGN)
    }
}

/// The builds of watched programs: the first digits of their executables' build ids. Each file is
/// read once.
struct BuildVersions {
    private struct File: Hashable {
        var device: dev_t
        var inode: ino_t
        var size: off_t
        var seconds: Int
        var nanoseconds: Int
    }

    /// nil: it has no build id.
    private var known: [File: String?] = [:]

    private static let digits = 12
    /// A machine that builds programs all day produces new build ids without end.
    private static let most = 4096

    /// nil: the file has no build id, or it is no longer known. After a process's end only its
    /// program's path is left, and another file may be there now.
    mutating func version(of program: WatchedProgram, running pid: Int32) -> String? {
        if let version = version(ofFileAt: "/proc/\(pid)/exe", program, isInode: false) {
            return version
        }
        guard program.inode != 0 else { return nil }
        return version(ofFileAt: program.executable, program, isInode: true)
    }

    /// The file is opened only once, because the path may lead to another file later.
    private mutating func version(
        ofFileAt path: String, _ program: WatchedProgram, isInode: Bool
    ) -> String? {
        guard let descriptor = try? Descriptor(path, WholeFile.unwaiting) else { return nil }
        // It stays open while its name is used.
        defer { withExtendedLifetime(descriptor) {} }
        let name = "/proc/self/fd/\(descriptor.number)"
        guard let file = Self.file(descriptor.number),
            isInode ? UInt64(file.inode) == program.inode : Self.target(name) == program.executable
        else { return nil }
        if let version = known[file] { return version }
        let version = ELFFile.buildID(ofFile: name).map { String($0.prefix(Self.digits)) }
        if known.count >= Self.most { known = [:] }
        known[file] = version
        return version
    }

    /// nil: it is no regular file.
    private static func file(_ descriptor: Int32) -> File? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        let changed = status.st_mtim
        return File(
            device: status.st_dev, inode: status.st_ino, size: status.st_size,
            seconds: changed.tv_sec, nanoseconds: changed.tv_nsec)
    }

    private static func target(_ link: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(link, &bytes, bytes.count)
        return length > 0 ? String(decoding: bytes.prefix(length), as: UTF8.self) : nil
    }
}

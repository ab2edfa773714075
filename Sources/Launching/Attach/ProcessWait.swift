import Glibc
package import ProcessIO
import ProfileModel
import System

/// Waits until any process executes a given program. Needs no privileges: it follows the process
/// ids that the kernel gives out, and reads `/proc` for those processes.
package struct ProcessWait: ~Copyable {
    package enum End: Hashable, Sendable {
        /// The process that has executed the program.
        case found(Int32)
        /// A signal that asks us to end.
        case signal(Int32)
    }

    /// The pauses between looks: while a process is young, and otherwise.
    private static let shortPause = TimeSpan(nanoseconds: 500_000)
    private static let longPause = TimeSpan(nanoseconds: 1_000_000)
    /// A scan of all processes begins so often …
    private static let scanInterval = TimeSpan.milliseconds(100)
    /// … and looks at this many processes at once, since the young ones must not wait for it.
    private static let portion = 16

    private let name: ProgramName
    private let own = getpid()
    private let load = ProcFile("/proc/loadavg")
    private var buffer = ReadBuffer()
    private var loadBuffer = ReadBuffer(capacity: 128)
    private var watch = ExecWatch()
    /// The rest of the current scan, and when the next scan may begin.
    private var scan: ArraySlice<Int32> = []
    private var nextScan = MonotonicTime.now

    /// Waiting begins here. A process that already exists counts only if it executes the program
    /// again.
    package init(for name: ProgramName) {
        self.name = name
        followIDs(at: .now)
    }

    /// The processes that run the program already. Call it once, before ``wait(_:)``.
    package mutating func running() throws(SamplerError) -> [Int32] {
        do throws(SystemError) {
            let now = MonotonicTime.now
            return watch.toScan(of: try Self.processes()).filter { look(at: $0, at: now) }
        } catch {
            throw .systemCall(error)
        }
    }

    /// Waits until the program is there. The process may still be inside execve(2); attaching waits
    /// for the end of the call.
    package mutating func wait(_ signals: SignalQueue) throws(SamplerError) -> End {
        do throws(SystemError) {
            while true {
                let now = MonotonicTime.now
                if let pid = try look(at: now) { return .found(pid) }
                let pause = watch.pause(at: now, from: Self.shortPause, to: Self.longPause)
                if let signal = signals.endSignal(within: pause) { return .signal(signal) }
            }
        } catch {
            throw .systemCall(error)
        }
    }

    private mutating func look(at now: MonotonicTime) throws(SystemError) -> Int32? {
        followIDs(at: now)
        for pid in watch.due(at: now) + (try nextPortion(at: now)) where look(at: pid, at: now) {
            return pid
        }
        return nil
    }

    /// The last figure of `/proc/loadavg` is the id that was given out last. If we cannot read it
    /// (a `/proc` mounted with `subset=pid`), only the scans find new processes.
    private mutating func followIDs(at now: MonotonicTime) {
        load?.read(into: &loadBuffer)
        var text = loadBuffer.text
        text.skipWords(4)
        guard let value = text.decimal(), let latest = Int32(exactly: value) else { return }
        if !watch.advance(to: latest, at: now) { nextScan = now }
    }

    private mutating func nextPortion(at now: MonotonicTime) throws(SystemError) -> [Int32] {
        if scan.isEmpty, now >= nextScan {
            scan = watch.toScan(of: try Self.processes())[...]
            nextScan = now + Self.scanInterval
        }
        defer { scan = scan.dropFirst(Self.portion) }
        return Array(scan.prefix(Self.portion))
    }

    /// - Returns: true if the process has executed the program since the last look.
    private mutating func look(at pid: Int32, at now: MonotonicTime) -> Bool {
        guard pid != own else {
            watch.sawNothing(pid, isThread: true, at: now)
            return false
        }
        guard let image = image(of: pid) else {
            watch.sawNothing(pid, isThread: false, at: now)
            return false
        }
        if watch.isUnknown(pid), isThread(pid, image) {
            watch.sawNothing(pid, isThread: true, at: now)
            return false
        }
        guard watch.saw(image, of: pid, at: now) else { return false }
        return name.matches(names(of: pid, image))
    }

    // MARK: Reading /proc

    private static func processes() throws(SystemError) -> [Int32] {
        let folder = opendir("/proc")
        let problem = errno
        guard let folder else { throw SystemError("reading /proc", code: problem) }
        defer { closedir(folder) }
        var ids: [Int32] = []
        while let entry = readdir(folder) {
            let id = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { Int32(atoi($0)) }
            }
            if id > 0 { ids.append(id) }
        }
        return ids
    }

    /// nil: the process is not there.
    private mutating func image(of pid: Int32) -> ProcessImage? {
        guard let file = ProcFile("/proc/\(pid)/stat") else { return nil }
        file.read(into: &buffer)
        return ProcessImage(buffer.contents)
    }

    /// Threads share the range of process ids and have files of their own under `/proc`. A thread
    /// has never executed a program: one that does becomes its process's first thread.
    private func isThread(_ pid: Int32, _ image: ProcessImage) -> Bool {
        !image.hasExecuted && ProcessFiles(pid: pid).status("Tgid:") != Int64(pid)
    }

    private mutating func names(of pid: Int32, _ image: ProcessImage) -> ProcessNames {
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/\(pid)/exe", &target, target.count)
        buffer.readArguments(of: pid)
        let arguments = buffer.contents.split(separator: 0, omittingEmptySubsequences: false)
        return ProcessNames(
            command: image.command, executable: Array(target.prefix(max(0, length))),
            arguments: arguments.dropLast().map(Array.init))
    }
}

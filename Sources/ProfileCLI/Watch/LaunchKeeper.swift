import Analysis
import Launching
import ProfileModel
import Recording
import Sampler

/// Stores watched launches, each in the file of its program and version. A launch is stored
/// permanently when ``keep(_:earliest:at:)`` returns.
struct LaunchKeeper {
    /// Where a launch is stored.
    struct Kept {
        var launch: MeasuredLaunch
        var file: String
        /// The measurement in that file, with this launch alone.
        var measurement: Measurement
    }

    /// The files and launches that were deleted to keep the folder within its limit.
    struct Dropped: Hashable {
        var files = 0
        var launches = 0
    }

    /// The clocks at one moment.
    struct Moment {
        var time: MonotonicTime
        /// In nanoseconds since 1970 UTC.
        var date: Int64

        static let day: Int64 = 86_400_000_000_000

        var day: Int64 { date / Self.day }
        /// How long the day has lasted.
        var sinceMidnight: TimeSpan { TimeSpan(nanoseconds: max(0, date) % Self.day) }
    }

    struct Limits {
        /// The limit for all files together, in bytes.
        var bytes: Int64
        var launchesOfFile = 1000
        var openFiles = 64
    }

    private struct Key: Hashable {
        var executable: String
        var name: String
        var version: String?
    }

    private struct OpenFile {
        var path: String
        var writer: MeasurementWriter
        /// Without launches.
        var measurement: Measurement
        var begin: MonotonicTime
        var day: Int64
        var launches = 0
        /// How many of these count.
        var counted = 0
        var lastUse: Int
    }

    private let folder: WatchFolder
    private let machine: MeasuredMachine
    private let limits: Limits
    private var files: [Key: OpenFile] = [:]
    private var uses = 0
    private(set) var kept = 0
    private(set) var dropped = Dropped()

    /// How often files are used between two checks of their sizes.
    private static let usesBetweenLooks = 256

    init(in folder: WatchFolder, on machine: MeasuredMachine, _ limits: Limits) {
        (self.folder, self.machine, self.limits) = (folder, machine, limits)
    }

    var hasOpenFiles: Bool { !files.isEmpty }

    /// Stores a launch.
    ///
    /// - Parameters:
    ///   - earliest: the earliest begin among the program's launches that are still in progress:
    ///     they must fit into the same file. Called only for a new file.
    ///   - isRecorded: true if its stacks were taken during the launch.
    mutating func keep(
        _ watched: WatchedLaunch, earliest: @autoclosure () -> MonotonicTime?,
        isRecorded: Bool = false, at now: Moment
    ) throws(RecordingError) -> Kept {
        let key = Key(
            executable: watched.program.executable, name: watched.program.name,
            version: watched.version)
        if let file = files[key], file.begin > watched.begun || file.day != now.day {
            finish(key)
        }
        // If the file was removed or replaced, launches would be reported as stored but be lost.
        if let file = files[key], !file.writer.isInPlace(at: file.path) { files[key] = nil }
        if uses % Self.usesBetweenLooks == Self.usesBetweenLooks - 1 { keepToBound() }
        var file: OpenFile
        if let open = files[key] {
            file = open
        } else {
            file = try create(
                for: watched, from: min(earliest() ?? watched.begun, watched.begun), now)
        }
        var launch = MeasuredLaunch(watched.observed, since: file.begin)
        if isRecorded, launch.discarded == nil { launch.discarded = .recorded }
        do throws(RecordingError) {
            try file.writer.append(launch)
        } catch {
            // After a failure, a writer writes no more. The launches that it has stored stay.
            files[key] = nil
            throw error
        }
        uses += 1
        kept += 1
        file.lastUse = uses
        file.launches += 1
        if launch.discarded == nil { file.counted += 1 }
        files[key] = file
        // A launch that began on another day gives its file that day's date: today's launches get
        // their own file.
        let isOfToday = watched.begun > now.time - now.sinceMidnight
        if file.launches >= limits.launchesOfFile || !isOfToday { finish(key) }
        var measurement = file.measurement
        measurement.launches = [launch]
        return Kept(launch: launch, file: file.path, measurement: measurement)
    }

    private mutating func create(
        for watched: WatchedLaunch, from begin: MonotonicTime, _ now: Moment
    ) throws(RecordingError) -> OpenFile {
        while files.count >= limits.openFiles, let oldest { finish(oldest) }
        let date = max(0, now.date - (now.time - begin).nanoseconds)
        let measurement = Measurement(
            header: Measurement.Header(
                requested: limits.launchesOfFile, versionName: watched.version,
                recorderVersion: Version.current,
                date: date),
            arms: [MeasuredArm(command: [watched.program.path], path: watched.program.path)],
            conditions: MeasuredConditions(), machine: machine)
        let path = folder.newFile(of: watched.program.name, date: now.date)
        let writer = try MeasurementWriter(creating: path, measurement)
        keepToBound(adding: path)
        return OpenFile(
            path: path, writer: writer, measurement: measurement, begin: begin, day: now.day,
            lastUse: uses)
    }

    /// The file that has been unused for longest.
    private var oldest: Key? { files.min { $0.value.lastUse < $1.value.lastUse }?.key }

    // MARK: Ending

    private mutating func finish(_ key: Key) {
        guard let file = files.removeValue(forKey: key) else { return }
        file.writer.extend(to: max(1, file.counted))
        // Its launches are stored, even if it cannot be marked as complete.
        try? file.writer.finish(.complete)
    }

    mutating func finishAll() { for key in files.keys { finish(key) } }

    /// Closes the files of past days.
    mutating func finishOld(at now: Moment) {
        for (key, file) in files where file.day != now.day { finish(key) }
    }

    // MARK: The limit

    /// Removes the oldest files until the rest fits.
    ///
    /// - Parameter path: another file that is being written.
    mutating func keepToBound(adding path: String? = nil) {
        removeOldest(adding: path)
        // The open files alone exceed the limit: close them, so that they may be deleted, too.
        guard !files.isEmpty, !hasRoom else { return }
        finishAll()
        removeOldest(adding: path)
    }

    private mutating func removeOldest(adding path: String?) {
        var open = Set(files.values.map(\.path))
        if let path { open.insert(path) }
        for file in FolderBound.tooMany(folder.files(), limit: limits.bytes, open: open) {
            guard let launches = folder.remove(file) else { continue }
            dropped.files += 1
            dropped.launches += launches
        }
    }

    /// True if all files together are within the limit, so that recordings may be added.
    var hasRoom: Bool {
        folder.files().reduce(0) { $0 + $1.size } <= limits.bytes
    }
}

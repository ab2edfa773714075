import Analysis
import ProfileModel
import Recording
import Sampler

/// Keeps launches that were watched, each in the file of its program and version, for good as soon as
/// ``keep(_:earliest:at:)`` returns.
struct LaunchKeeper {
    /// Where a launch is.
    struct Kept {
        var launch: MeasuredLaunch
        var file: String
        /// All that the file says of it, with this launch alone.
        var measurement: Measurement
    }

    /// What had to go so that the folder keeps to its bound.
    struct Dropped: Hashable {
        var files = 0
        var launches = 0
    }

    /// What the clocks say at one moment.
    struct Moment {
        var time: MonotonicTime
        /// In nanoseconds since 1970 UTC.
        var date: Int64

        static let day: Int64 = 86_400_000_000_000

        var day: Int64 { date / Self.day }
        /// How long the day has been.
        var sinceMidnight: TimeSpan { TimeSpan(nanoseconds: max(0, date) % Self.day) }
    }

    struct Limits {
        /// Of all files together, in bytes.
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
        /// Of those, which count.
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

    /// Files grow between two looks at how large they are.
    private static let usesBetweenLooks = 256

    init(in folder: WatchFolder, on machine: MeasuredMachine, _ limits: Limits) {
        (self.folder, self.machine, self.limits) = (folder, machine, limits)
    }

    var hasOpenFiles: Bool { !files.isEmpty }

    /// Keeps a launch.
    ///
    /// - Parameters:
    ///   - earliest: when the first of the program's launches began that are not over: they are to fit
    ///     into the same file. Asked for a new file only.
    ///   - isRecorded: its stacks were taken meanwhile.
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
        // Somebody may have removed or replaced it: it would be told as kept, and be nowhere.
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
            // A writer that has failed writes no more. What it has kept stays.
            files[key] = nil
            throw error
        }
        uses += 1
        kept += 1
        file.lastUse = uses
        file.launches += 1
        if launch.discarded == nil { file.counted += 1 }
        files[key] = file
        // What began on another day dates its file there: those of today get one of their own.
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

    /// The one that was left alone for longest.
    private var oldest: Key? { files.min { $0.value.lastUse < $1.value.lastUse }?.key }

    // MARK: Ending

    private mutating func finish(_ key: Key) {
        guard let file = files.removeValue(forKey: key) else { return }
        file.writer.extend(to: max(1, file.counted))
        // Its launches are in it, whether it can say that it is complete or not.
        try? file.writer.finish(.complete)
    }

    mutating func finishAll() { for key in files.keys { finish(key) } }

    /// Files of days that are over.
    mutating func finishOld(at now: Moment) {
        for (key, file) in files where file.day != now.day { finish(key) }
    }

    // MARK: The bound

    /// Removes the oldest files until the rest fits.
    ///
    /// - Parameter path: is being written, too.
    mutating func keepToBound(adding path: String? = nil) {
        removeOldest(adding: path)
        // What is being written is too much by itself: then it can go, too.
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

    /// Whether the bound leaves room for more than launches.
    var hasRoom: Bool {
        folder.files().reduce(0) { $0 + $1.size } <= limits.bytes
    }
}

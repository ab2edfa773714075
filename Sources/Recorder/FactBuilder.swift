import Glibc
import ProfileModel
import Sampler
import Unwind

/// Turns observed libraries, initialisers and signposts into rows for the recording. Their times
/// and names come from the program's own memory, which may hold anything. Impossible values are
/// corrected where that is harmless, and left out otherwise, so that they cannot end the recording.
struct FactBuilder {
    private static let latest: Int64 = 1 << 60

    /// How many threads are known.
    var threads = 0
    /// Initialisers whose code was not in a known mapping when they arrived.
    private var unplaced: [ObservedInitializer] = []

    private func isValid(_ thread: ThreadIndex) -> Bool { 0..<threads ~= thread.rawValue }

    private static func isValid(_ time: MonotonicTime) -> Bool {
        0...latest ~= time.nanoseconds
    }

    // MARK: Libraries

    /// - Parameter pid: the process in whose folder relative paths begin.
    func library(
        _ observed: ObservedLibrary, pid: Int32, slices: inout SliceBuilder
    ) -> LibraryLoad? {
        var load = observed.load
        guard Self.isValid(load.start), load.size >= 0, load.size <= Self.latest else {
            return nil
        }
        load.path = RecordedText.bounded(load.path)
        load.requestedBy = load.requestedBy.map(RecordedText.bounded)
        if let wall = load.wall, !(0...Self.latest - load.start.nanoseconds ~= wall.nanoseconds) {
            load.wall = nil
        }
        load.caller = observed.caller.flatMap { slices.intern($0) }
        load.file = load.file ?? Self.file(load.path, of: pid)
        return load
    }

    /// The file that a path finally leads to, because mappings name that file.
    private static func file(_ path: String, of pid: Int32) -> String? {
        guard path.contains("/") else { return nil }
        let place = path.hasPrefix("/") ? path : "/proc/\(pid)/cwd/\(path)"
        guard let resolved = realpath(place, nil) else { return nil }
        defer { free(resolved) }
        return String(validatingCString: resolved).map(RecordedText.bounded)
    }

    // MARK: Initialisers

    /// Takes an initialiser. If it cannot be placed yet, it waits until its mapping is known.
    mutating func initializer(
        _ observed: ObservedInitializer, slices: inout SliceBuilder
    ) -> InitializerRun? {
        guard isValid(observed.thread), Self.isValid(observed.start),
            Self.isValid(observed.end), 0...Self.latest ~= observed.cpu.nanoseconds
        else { return nil }
        guard let frame = slices.unwinder.frame(ofInstruction: observed.function) else {
            unplaced.append(observed)
            return nil
        }
        return run(observed, frame, &slices)
    }

    /// The initialisers that waited and can be placed now; all of them with `evenUnknown`.
    mutating func placed(
        slices: inout SliceBuilder, evenUnknown: Bool = false
    ) -> [InitializerRun] {
        var result: [InitializerRun] = []
        var rest: [ObservedInitializer] = []
        for observed in unplaced {
            if let frame = slices.unwinder.frame(ofInstruction: observed.function) {
                result.append(run(observed, frame, &slices))
            } else if evenUnknown {
                let address = CodeAddress(observed.function, .instruction)
                result.append(run(observed, FrameAddress(module: nil, address: address), &slices))
            } else {
                rest.append(observed)
            }
        }
        unplaced = rest
        return result
    }

    private func run(
        _ observed: ObservedInitializer, _ frame: FrameAddress, _ slices: inout SliceBuilder
    ) -> InitializerRun {
        InitializerRun(
            function: slices.intern(frame), thread: observed.thread, start: observed.start,
            end: max(observed.start, observed.end), cpu: observed.cpu,
            isComplete: observed.isComplete)
    }

    // MARK: Waits and priorities

    func wait(_ observed: Wait, stack: StackID?) -> Wait? {
        var result = observed
        guard isValid(result.thread), Self.isValid(result.start), Self.isValid(result.end),
            result.start <= result.end, result.systemCall >= -1
        else { return nil }
        result.stack = stack
        result.reason.detail = result.reason.detail.map(RecordedText.bounded)
        result.reason.owner = result.reason.owner.flatMap { $0 > 0 ? $0 : nil }
        return result
    }

    func priority(_ priority: Priority) -> Priority? {
        isValid(priority.thread) && Self.isValid(priority.time) ? priority : nil
    }

    // MARK: Signposts and readiness

    func interval(_ interval: Interval) -> Interval? {
        var result = interval
        guard Self.isValid(result.start), Self.isValid(result.end) else { return nil }
        result.name = RecordedText.bounded(result.name)
        result.category = RecordedText.bounded(result.category)
        result.subsystem = RecordedText.bounded(result.subsystem)
        result.thread = result.thread.flatMap { isValid($0) ? $0 : nil }
        result.end = max(result.start, result.end)
        return result
    }

    func signpost(_ signpost: Signpost) -> Signpost? {
        var result = signpost
        guard Self.isValid(result.time) else { return nil }
        result.name = RecordedText.bounded(result.name)
        result.category = RecordedText.bounded(result.category)
        result.subsystem = RecordedText.bounded(result.subsystem)
        result.thread = result.thread.flatMap { isValid($0) ? $0 : nil }
        return result
    }

    /// - Parameter isFirst: later ones add nothing.
    func readiness(_ ready: Readiness, isFirst: Bool) -> Readiness? {
        guard isFirst, Self.isValid(ready.time) else { return nil }
        return Readiness(time: ready.time, by: RecordedText.bounded(ready.by))
    }
}

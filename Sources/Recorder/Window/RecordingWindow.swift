import ProcessIO
import ProfileModel
import Recording
import Sampler
import System

/// The parts that a recorder with `--last` keeps: the part of the recording that it is writing, and
/// the part before. Each is as long as the user asked for. So the recorder's use of disk and memory
/// does not grow with time, and nothing is rewritten while the program runs.
struct RecordingWindow {
    /// The file of the part that is being written, and of the whole in the end.
    let path: String
    let length: TimeSpan
    private var start: MonotonicTime?
    private var last: MonotonicTime?
    private(set) var hasPartBefore = false

    init(_ length: TimeSpan, path: String) {
        self.path = path
        self.length = length
    }

    var pathBefore: String { RecordingFile.earlierPath(path) }
    private var joinedPath: String { RecordingFile.joinedPath(path) }

    /// Removes a part that an older recorder left: it is not of this recording.
    func begin() throws(RecordingError) { try RecordingFile.remove(pathBefore) }

    /// - Returns: whether the part that is being written has its full length.
    mutating func isFull(after event: SamplerEvent) -> Bool {
        guard let time = event.time else { return false }
        let last = max(last ?? time, time)
        self.last = last
        start = start ?? last
        return last - (start ?? last) >= length
    }

    /// The part that was written and closed becomes the part before.
    ///
    /// - Returns: when the new part begins.
    mutating func turn() throws(RecordingError) -> MonotonicTime {
        try RecordingFile.rename(path, to: pathBefore)
        hasPartBefore = true
        start = last
        return last ?? .now
    }

    /// There is no new part, so the part before is the last one again.
    mutating func turnBack() {
        hasPartBefore = (try? RecordingFile.rename(pathBefore, to: path)) == nil
    }

    /// Joins the last stretch of both parts into one recording, which takes their place.
    ///
    /// - Parameter identity: the identity of the part that was written last. That file is closed,
    ///   so another recording may have replaced it since.
    /// - Returns: the whole's identity.
    func join(
        _ identity: RecordingFile.Identity?
    ) throws(RecordingError) -> RecordingFile.Identity? {
        try RecordingFile.remove(joinedPath)
        let whole: RecordingFile.Identity?
        do throws(RecordingError) {
            whole = try writeJoined()
            try RecordingFile.check(path, is: identity)
            try RecordingFile.rename(joinedPath, to: path)
        } catch {
            try? RecordingFile.remove(joinedPath)
            throw error
        }
        try RecordingFile.remove(pathBefore)
        return whole
    }

    private func writeJoined() throws(RecordingError) -> RecordingFile.Identity? {
        let part = try RecordingReader.load(path: path)
        let end = part.borders.last { $0.kind == .ended }?.time ?? last ?? .now
        let joined = Recording(
            joining: [try RecordingReader.load(path: pathBefore), part], from: end - length)
        let file = try RecordingWriter(creating: joinedPath, header: joined.header)
        try file.append(joined)
        try file.finish(joined.header)
        return file.identity
    }
}

extension SamplerEvent {
    /// The time up to which the event reports on its thread, or on all threads.
    fileprivate var time: MonotonicTime? {
        switch self {
        case .sample(let sample): sample.start + sample.times.wall
        case .border(let border): border.time
        default: nil
        }
    }
}

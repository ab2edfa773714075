import ProfileModel
import Unwind

/// Functions that interpreters run. They have no addresses, so frames number them, and the
/// recording lists the meaning of each number. The numbers are the same in all parts of a
/// recording.
///
/// For the recording thread only.
final class RuntimeFunctions {
    private let modules: MappedFiles
    private var known: [Key: FrameAddress] = [:]
    private var all: [(frame: FrameAddress, function: SourceFrame)] = []
    private var written = 0

    /// Counts of three things: stacks that show the interpreter's own functions, because the
    /// functions that it ran could not be read consistently; stacks whose newest interpreted
    /// functions are not known; and functions that could no longer be named.
    var unread: Int64 = 0
    var partlyRead: Int64 = 0
    var unnamed: Int64 = 0

    private struct Key: Hashable {
        var path: String
        var function: SourceFrame
    }

    /// The most functions that are distinguished. Without a limit, the file would grow without end.
    private static let most = 1 << 20

    init(_ modules: MappedFiles) { self.modules = modules }

    /// - Parameters:
    ///   - function: its name, its file, and the line that runs.
    ///   - path: as in ``Module/runtimePath(_:)``.
    /// - Returns: nil: there are too many.
    func frame(of function: SourceFrame, in path: String) -> FrameAddress? {
        let key = Key(path: path, function: function)
        if let known = known[key] { return known }
        guard all.count < Self.most else { return nil }
        let frame = FrameAddress(
            module: modules.index(ofRuntime: path),
            address: CodeAddress(UInt64(all.count), .instruction))
        known[key] = frame
        all.append((frame, function))
        return frame
    }

    /// The functions that were not written yet.
    func takeNew() -> ArraySlice<(frame: FrameAddress, function: SourceFrame)> {
        defer { written = all.count }
        return all[written...]
    }

    /// Another file begins: the functions go into it, too.
    func startAnew() { written = 0 }
}

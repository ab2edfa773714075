import ProfileModel
import Unwind

/// Functions that interpreters run: they have no addresses, so frames count them, and what a number means
/// is written with them. The numbers are the same for all parts of a recording.
///
/// For the recording thread only.
final class RuntimeFunctions {
    private let modules: MappedFiles
    private var known: [Key: FrameAddress] = [:]
    private var all: [(frame: FrameAddress, function: SourceFrame)] = []
    private var written = 0

    /// Stacks that show the interpreter's own functions, for what they ran could not be read
    /// consistently; those of which the newest of what they ran are not known; and functions of which
    /// nobody could tell the name any more.
    var unread: Int64 = 0
    var partlyRead: Int64 = 0
    var unnamed: Int64 = 0

    private struct Key: Hashable {
        var path: String
        var function: SourceFrame
    }

    /// More are not told apart: the file would grow without end.
    private static let most = 1 << 20

    init(_ modules: MappedFiles) { self.modules = modules }

    /// - Parameters:
    ///   - function: its name, its file, and the line that runs.
    ///   - path: as of ``Module/runtimePath(_:)``.
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

    /// Those that were not written yet.
    func takeNew() -> ArraySlice<(frame: FrameAddress, function: SourceFrame)> {
        defer { written = all.count }
        return all[written...]
    }

    /// They go into another file, too.
    func startAnew() { written = 0 }
}

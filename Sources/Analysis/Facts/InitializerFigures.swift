package import ProfileModel

/// One run of an initialiser, with its function. Its own thread timed it; it was not sampled.
package struct InitializerFigures: Hashable, Sendable {
    /// The function, at the line of its first instruction.
    package var frame: FrameID
    /// The source file, from the debug information, or from the symbol of a C++ unit's dynamic
    /// initialisation. nil: neither names it.
    package var file: String?
    /// 1-based; nil without line information.
    package var line: Int32?
    /// In the profile's list.
    package var thread: Int
    /// Since the launch's start.
    package var start: TimeSpan
    /// A lower bound if it is not ``isComplete``.
    package var wall: TimeSpan
    /// CPU time of its thread during the run.
    package var cpu: TimeSpan
    /// False: it never returned; its run ends where it was last seen.
    package var isComplete: Bool

    package var end: TimeSpan { start + wall }

    /// In the order of their starts; the outer first.
    static func all(
        of recording: Recording, since launch: MonotonicTime, _ expander: inout StackExpander
    ) -> [InitializerFigures] {
        var result: [InitializerFigures] = []
        let order = recording.initializers.indices.sorted {
            let (left, right) = (recording.initializers[$0], recording.initializers[$1])
            return (left.start, right.end, $0) < (right.start, left.end, $1)
        }
        for index in order {
            let run = recording.initializers[index]
            guard recording.threads.indices.contains(run.thread.rawValue),
                let frame = expander.innermostFunction(of: run.function)
            else { continue }
            let (start, end) = (run.start.clamped, run.end.clamped)
            let place = expander.frames[frame]
            let name = expander.frames[place.function].name
            result.append(
                InitializerFigures(
                    frame: frame, file: place.file ?? Self.sourceFile(of: name),
                    line: place.file == nil ? nil : place.line, thread: run.thread.rawValue,
                    start: start - launch, wall: max(.zero, end - start), cpu: run.cpu,
                    isComplete: run.isComplete))
        }
        return result
    }

    /// Compilers name the function that initialises a unit's variables after the unit's file
    /// (Clang) or after its first variable or function (GCC); only a file has a suffix.
    static func sourceFile(of function: String) -> String? {
        let prefixes = ["_GLOBAL__sub_I_", "_GLOBAL__I_", "global constructors keyed to "]
        for prefix in prefixes where function.hasPrefix(prefix) {
            let name = function.dropFirst(prefix.count)
            guard let dot = name.lastIndex(of: "."), dot != name.startIndex,
                suffixes.contains(name[dot...].dropFirst().lowercased())
            else { return nil }
            return String(name)
        }
        return nil
    }

    private static let suffixes: Set<String> = [
        "c", "cc", "cp", "cpp", "cppm", "cu", "cxx", "c++", "ii", "ixx", "m", "mm",
    ]
}

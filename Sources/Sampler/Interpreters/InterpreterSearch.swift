import Images
import ProcessIO
import ProfileModel
import Runtimes
import System

/// Finds the interpreter that a process runs, among the files that it maps.
///
/// A file that is still being mapped may not be recognised yet, so a search is repeated.
struct InterpreterSearch {
    private let process: any ProcessAccess
    private let memory: ProcessMemory
    /// nil: none was found yet.
    private(set) var interpreter: PythonInterpreter?
    /// Files that may be an interpreter's, sorted by name.
    private var candidates: [String] = []
    private var again = RepeatedSearch(at: MonotonicTime(nanoseconds: 0))

    init(of process: any ProcessAccess, _ memory: ProcessMemory) {
        self.process = process
        self.memory = memory
    }

    /// - Parameter code: all code that is mapped now.
    /// - Returns: an interpreter that was not known before.
    mutating func saw(_ code: [CodeMapping], at now: MonotonicTime) -> FoundInterpreter? {
        guard interpreter == nil else { return nil }
        for mapping in code where PythonInterpreter.mayBe(path: mapping.path) {
            if candidates.contains(mapping.path) { continue }
            candidates = (candidates + [mapping.path]).sorted()
            again = RepeatedSearch(at: now)
        }
        return findAgain(at: now)
    }

    /// Searches the mapped files once more, if that is due.
    ///
    /// - Returns: an interpreter that was not known before.
    mutating func findAgain(at now: MonotonicTime) -> FoundInterpreter? {
        guard interpreter == nil, !candidates.isEmpty, again.isDue(at: now) else { return nil }
        again.postpone(at: now)
        for path in candidates {
            guard let image = image(of: path) else { continue }
            let symbols = image.ranges(ofSymbols: PythonInterpreter.symbols)
            interpreter = PythonInterpreter(
                path: path, symbol: { symbols[$0]?.lowerBound }, memory: memory)
            if let interpreter {
                return FoundInterpreter(
                    interpreter: interpreter, loop: symbols[PythonInterpreter.loop] ?? 0..<0)
            }
        }
        return nil
    }

    /// The image of a file, found by the mapping of the file's beginning.
    private func image(of path: String) -> LoadedImage? {
        let start = process.mappings().first { $0.path == path && $0.fileOffset == 0 }
        return start.flatMap { LoadedImage(base: $0.start, memory: memory.memory) }
    }
}

import Glibc
import ProfileModel
import Runtimes
import TestSupport
import Testing

/// A running Python, and its output through a pipe. Killed in the end.
final class LivePython {
    let pid: Int32
    let memory: ProcessMemory
    private let input: Int32
    private let output: Int32
    private var unread: [UInt8] = []

    /// The program's own account at a stop.
    struct Stage {
        var name: String
        var threads: [Thread]
    }

    struct Thread {
        var kernelID: UInt64
        var pthread: UInt64
        /// Newest first.
        var frames: [Frame] = []
    }

    struct Frame: Hashable, CustomStringConvertible {
        var line: Int32?
        var name: String
        var file: String

        var description: String { "\(name) (\(file):\(line.map(String.init) ?? "?"))" }
    }

    /// - Parameter arguments: of the interpreter.
    init(_ python: String, _ arguments: [String]) throws {
        var (there, back) = ([Int32](repeating: -1, count: 2), [Int32](repeating: -1, count: 2))
        try #require(pipe(&there) == 0 && pipe(&back) == 0)
        for end in there + back { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (input, output) = (there[1], back[0])
        defer { [there[0], back[1]].forEach { close($0) } }
        pid = try spawn(
            [python, "-B"] + arguments, input: there[0], output: "/proc/self/fd/\(back[1])")
        memory = ProcessMemory(pid: pid)
    }

    deinit {
        kill(pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        [input, output].forEach { close($0) }
    }

    func goOn() { _ = write(input, [7], 1) }

    /// The next line of its output; nil: it has ended.
    func line() -> String? {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread.removeSubrange(...end) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            let got = read(output, &piece, piece.count)
            guard got > 0 else { return nil }
            unread += piece[..<got]
        }
    }

    /// Its next stop, once all its threads wait there; nil: it reports that there are no more.
    func stage() -> Stage? {
        guard let first = line(), first != "end" else { return nil }
        var stage = Stage(name: String(first.split(separator: "\t").last ?? ""), threads: [])
        while let line = line(), line != "go" {
            let words = line.split(separator: "\t").dropFirst()
            if line.hasPrefix("thread") {
                let numbers = words.compactMap { UInt64($0) }
                stage.threads.append(Thread(kernelID: numbers[0], pthread: numbers[1]))
            } else if words.count == 3, !stage.threads.isEmpty {
                stage.threads[stage.threads.count - 1].frames.append(
                    Frame(line: Int32(words[1]), name: String(words[2]), file: String(words[3])))
            }
        }
        waitUntilAllWait()
        return stage
    }

    /// In read(2) or futex(2).
    func waitUntilAllWait() {
        while threadIDs.contains(where: { tid in
            let call = call(of: tid).first
            return call != "0" && call != "202"
        }) { sched_yield() }
    }

    private var threadIDs: [Substring] {
        lines(of: "/proc/\(pid)/status").isEmpty ? [] : names(in: "/proc/\(pid)/task")
    }

    private func call(of tid: Substring) -> [Substring] {
        lines(of: "/proc/\(pid)/task/\(tid)/syscall").first?.split(separator: " ") ?? ["0"]
    }

    private func names(in folder: String) -> [Substring] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [Substring] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.first != "." { names.append(name[...]) }
        }
        return names
    }

    /// A thread's native stack, from its stack pointer to the end of the mapping.
    func stack(of tid: UInt64) -> StackCopy {
        let words = call(of: "\(tid)"[...])
        guard words.count > 2, let pointer = UInt64(words[words.count - 2].dropFirst(2), radix: 16),
            let end = mappings.first(where: { $0.start <= pointer && pointer < $0.end })?.end,
            let bytes = memory.bytes(at: pointer, count: Int(min(end - pointer, 1 << 20)))
        else { return StackCopy(start: 0, bytes: []) }
        return StackCopy(start: pointer, bytes: bytes)
    }

    /// Of the mapped files, the first one that is an interpreter's.
    func interpreter() -> PythonInterpreter? {
        var seen = Set<String>()
        for mapping in mappings where PythonInterpreter.mayBe(path: mapping.path) {
            guard mapping.offset == 0, seen.insert(mapping.path).inserted else { continue }
            let symbols = ExportedSymbols(path: mapping.path, start: mapping.start)
            if let found = PythonInterpreter(
                path: mapping.path, symbol: { symbols[$0] }, memory: memory)
            {
                return found
            }
        }
        return nil
    }

    var mappings: [(start: UInt64, end: UInt64, offset: UInt64, path: String)] {
        lines(of: "/proc/\(pid)/maps").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 5)
            let range = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard range.count == 2, let offset = UInt64(words[2], radix: 16) else { return nil }
            let path = words.count > 5 ? words[5].drop { $0 == " " } : ""
            return (range[0], range[1], offset, String(path))
        }
    }
}

import CSystem
import ELF
import Glibc
import Synchronization
import System

/// Finds out which files a launch opens. The kernel stops each call that opens or executes a file
/// until we have read its path (seccomp(2), user notification), which takes some 10 µs. So it is
/// used for one launch that does not count.
///
/// It misses files that the program inherits open, or opens by io_uring(7); files that other
/// processes (a daemon, a service manager) read for it; and files that only later launches open.
package final class OpenedFiles: Sendable {
    private let listener: Int32
    private let found: Mutex<[String]>
    private let isOver = Atomic<Bool>(false)

    /// Takes over `listener` (``ChildSetting/tellsOpens``), and answers until every process that it
    /// covers has ended: without an answer, a process could not open anything any more.
    ///
    /// - Parameter program: the program's path.
    package init(listener: Int32, program: String) {
        self.listener = listener
        found = Mutex(FirstFiles.of(program: program))
        if !startThread({ self.listen() }) {
            close(listener)
            isOver.store(true, ordering: .relaxed)
        }
    }

    /// The regular files that were opened or executed so far, each once, in the order of their
    /// first use. The program and the files that the kernel opened for it come first.
    package var paths: [String] {
        var known: Set<String> = []
        return found.withLock { $0 }.filter { known.insert($0).inserted }
    }

    /// True if every process that the listener covers has ended.
    package var hasEnded: Bool { isOver.load(ordering: .relaxed) }

    private func listen() {
        defer {
            isOver.store(true, ordering: .relaxed)
            close(listener)
        }
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        while true {
            var watched = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            let count = try? retrying { poll(&watched, 1, -1) }
            guard count == 1, Int32(watched.revents) & POLLIN != 0 else { return }
            var tid: pid_t = 0
            var folder: Int32 = 0
            // The process that asked has been killed in the meantime.
            guard fl_next_open(listener, &tid, &folder, &path, path.count) == 1 else { continue }
            note(path, from: folder, of: tid)
        }
    }

    private func note(_ text: [CChar], from folder: Int32, of tid: pid_t) {
        let path = text.withUnsafeBufferPointer { bytes in
            bytes.baseAddress.map { String(cString: $0) } ?? ""
        }
        let start = folder == AT_FDCWD ? "/proc/\(tid)/cwd" : "/proc/\(tid)/fd/\(folder)"
        // This very call may create the file, so a missing file is no loss.
        guard !path.isEmpty else { return }
        guard let real = FileText.real(path.first == "/" ? path : "\(start)/\(path)"),
            Self.isRegular(real)
        else { return }
        let files = FirstFiles.of(program: real)
        found.withLock { found in
            // Any opened file is looked at; only executed ones have further files here.
            found.append(real)
            for other in files.dropFirst() where !found.contains(other) { found.append(other) }
        }
    }

    private static func isRegular(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
}

/// The files that the kernel itself opens to execute a program. No system call shows them.
package enum FirstFiles {
    /// The program's file, its interpreter if it is a script, and their dynamic linkers. Paths are
    /// relative to the current directory.
    package static func of(program path: String) -> [String] {
        var found: [String] = []
        var next: String? = path
        // Scripts may be interpreted by scripts; the kernel follows four.
        while let path = next, found.count < 6, let real = FileText.real(path) {
            found.append(real)
            next = interpreter(of: real)
        }
        return found
    }

    /// The program that interprets a file; nil: none.
    private static func interpreter(of path: String) -> String? {
        let start = (try? WholeFile.beginning(of: path, count: 4096)) ?? []
        return scriptInterpreter(in: start)
            ?? (try? ELFFile(path: path, access: .read))?.interpreter
    }

    /// The program that a script's first line names; nil: none.
    package static func scriptInterpreter(in bytes: [UInt8]) -> String? {
        guard bytes.starts(with: "#!".utf8) else { return nil }
        let line = bytes.dropFirst(2).prefix { $0 != 10 }
        let word = line.drop { $0 == 32 || $0 == 9 }.prefix { $0 != 32 && $0 != 9 }
        return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
    }
}

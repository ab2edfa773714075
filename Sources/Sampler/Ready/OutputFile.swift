import CSystem
import Glibc
import ProfileModel
import System

/// A regular file that is the program's standard output or error.
///
/// No pipe may take its place: programs look whether they would read what they write
/// (`cat a >> a`), how large it is, and seek in it. The program's descriptor is a copy of ours, so
/// both have one position, and that tells how far it has written. Others may have a copy, too (the
/// shell that started us, what else it runs): a move counts only if the program has written anything
/// lately.
///
/// Unsafe code: the search lies at a fixed address, and is freed with this value.
final class OutputFile {
    private let descriptor: Int32
    /// For reading, with a position of its own; -1: the first byte is all that is looked for.
    private let reader: Int32
    /// What lies before it was there already, or has been looked at.
    private var position: off_t
    private let search = UnsafeMutablePointer<fl_search>.allocate(capacity: 1)
    private var isFound = false
    private var writing: WritingWatch?

    /// What is read at one look, in bytes. More waits for the next.
    private static let mostAtOnce = 1 << 18

    /// - Parameters:
    ///   - descriptor: ours, before the program has been started.
    ///   - text: what to look for, without line breaks; empty: the first byte.
    init(_ descriptor: Int32, for text: String) throws(SystemError) {
        let bytes = Array(text.utf8)
        let started = fl_search_begin(search, bytes, bytes.count)
        let reader =
            bytes.isEmpty
            ? -1 : open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        let problem = errno
        var status = stat()
        fstat(descriptor, &status)
        // What is appended goes behind all that is there, wherever the position is.
        let appends = fcntl(descriptor, F_GETFL) & O_APPEND != 0
        self.descriptor = descriptor
        self.reader = reader
        position = appends ? status.st_size : max(0, lseek(descriptor, 0, SEEK_CUR))
        try check(started, "looking for a text")
        if !bytes.isEmpty, reader < 0 {
            throw SystemError("reading the file that the output goes to", code: problem)
        }
    }

    deinit {
        if reader >= 0 { close(reader) }
        search.deallocate()
    }

    func began(_ pid: Int32) { writing = WritingWatch(pid, at: .now) }

    /// Whether the text has been written by now, as far as has been read.
    func look(at now: MonotonicTime) -> Bool {
        let end = lseek(descriptor, 0, SEEK_CUR)
        defer { writing?.look(at: now) }
        guard !isFound, end > position else { return isFound }
        if writing?.hasWritten == false {
            position = end
            return false
        }
        isFound = reader < 0 || finds(upTo: end)
        return isFound
    }

    /// The same of all that has been written by now. Others may go on writing without end.
    func lookThrough() -> Bool {
        let end = lseek(descriptor, 0, SEEK_CUR)
        guard !isFound, end > position, writing?.hasWritten != false else { return isFound }
        var before: off_t = -1
        while !isFound, position < end, position > before, !SignalQueue.isToEnd {
            before = position
            isFound = reader < 0 || finds(upTo: end)
        }
        return isFound
    }

    private func finds(upTo end: off_t) -> Bool {
        let count = Int(clamping: min(end - position, off_t(Self.mostAtOnce)))
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, pread(reader, buffer.baseAddress, count, position))
        }
        position += off_t(bytes.count)
        return fl_search_finds(search, bytes, bytes.count) == 1
    }
}

import CSystem
import Glibc
package import ProcessIO
package import ProfileModel
import System

/// A regular file that is the program's standard output or error.
///
/// A pipe must not take its place: programs check whether their output file is also their input
/// (`cat a >> a`), ask for the file's size, and seek in it. The program's descriptor is a copy of
/// ours, so both share one position, which tells how far the program has written. Other processes
/// may have copies, too (the shell that started us, and its other programs). So a move counts only
/// if the program has written something lately.
///
/// Unsafe code: the search has a fixed address and is freed with this value.
package final class OutputFile {
    private let descriptor: Int32
    /// For reading, with its own position; -1: we look for the first byte only.
    private let reader: Int32
    /// All bytes before it were there at the start, or have been searched.
    private var position: off_t
    private let search = UnsafeMutablePointer<fl_search>.allocate(capacity: 1)
    private var isFound = false
    private var writing: WritingWatch?

    /// How many bytes one look reads at most. The rest waits for the next look.
    private static let mostAtOnce = 1 << 18

    /// - Parameters:
    ///   - descriptor: ours, before the program starts.
    ///   - text: the text to look for, without line breaks; empty: the first byte.
    package init(_ descriptor: Int32, for text: String) throws(SystemError) {
        let bytes = Array(text.utf8)
        let started = fl_search_begin(search, bytes, bytes.count)
        let reader =
            bytes.isEmpty
            ? -1 : open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        let problem = errno
        var status = stat()
        fstat(descriptor, &status)
        // Appended text goes behind the existing content, wherever the position is.
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

    package func began(_ pid: Int32) { writing = WritingWatch(pid, at: .now) }

    /// True if the text has been found in the part read so far.
    package func look(at now: MonotonicTime) -> Bool {
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

    /// As ``look(at:)``, for everything written so far. Other writers may go on without end.
    package func lookThrough() -> Bool {
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

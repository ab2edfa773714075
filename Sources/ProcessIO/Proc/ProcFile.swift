import Glibc
import System

/// One file under `/proc`, kept open and read from its start again and again: opening costs more
/// than reading.
package struct ProcFile: ~Copyable {
    private let file: Descriptor

    /// nil if the process or thread is gone, or the file may not be read.
    package init?(_ path: String) {
        guard let file = try? Descriptor(path) else { return nil }
        self.file = file
    }

    /// nil also if the file would take one of the descriptors that are reserved
    /// (``DescriptorReserve``).
    package init?(keeping path: String) {
        guard let file = Descriptor(keeping: path) else { return nil }
        self.file = file
    }

    /// 0, or why the file cannot be opened, as -errno.
    package static func canOpen(_ path: String) -> Int32 {
        do throws(Errno) {
            _ = try Descriptor(path)
            return 0
        } catch {
            return -error.number
        }
    }

    /// Reads a short file in one call, and continues only if that fills the buffer: a `status` is
    /// long if the user is in hundreds of groups. The buffer is empty if the file can no longer be
    /// read.
    package func read(into buffer: inout ReadBuffer) {
        buffer.clear()
        while buffer.readOn(from: file.number), buffer.isFull {}
    }

    /// True if there is a byte at a position; for `/proc/PID/mem`: if the address space still
    /// lives.
    package func canRead(at position: UInt64) -> Bool {
        var byte: UInt8 = 0
        return pread(file.number, &byte, 1, Int(truncatingIfNeeded: position)) == 1
    }

    /// Words of a file, as many as can be read.
    package static func words(of path: String, at position: UInt64, count: Int) -> [UInt64] {
        guard let file = try? Descriptor(path) else { return [] }
        return [UInt64](unsafeUninitializedCapacity: count) { words, read in
            let got = pread(
                file.number, words.baseAddress, 8 * count, Int(truncatingIfNeeded: position))
            read = max(0, got) / 8
        }
    }

    /// True if all words could be written.
    @discardableResult
    package static func write<Value: FixedWidthInteger>(
        _ values: [Value], to path: String, at position: UInt64
    ) -> Bool {
        guard let file = try? Descriptor(path, O_WRONLY) else { return false }
        let size = values.count * MemoryLayout<Value>.stride
        return pwrite(file.number, values, size, Int(truncatingIfNeeded: position)) == size
    }

    /// Reads a long file, which the kernel returns page by page: all of it, or its beginning.
    package func readAll(into buffer: inout ReadBuffer, limit: Int = .max) {
        buffer.clear()
        while !buffer.has(limit), buffer.readOn(from: file.number) {}
    }
}

/// A file under `/proc` that is kept open if that leaves enough descriptors
/// (``DescriptorReserve``), and otherwise opened for each read. With very many threads that is
/// slower, but a thread whose file cannot be opened would look like an ended thread.
package struct KeptFile: ~Copyable {
    private let path: String
    private let file: ProcFile?

    /// - Parameter isKept: false: the file is opened for each read, even if descriptors are free.
    package init(_ path: String, isKept: Bool = true) {
        self.path = path
        file = isKept ? ProcFile(keeping: path) : nil
    }

    /// As ``ProcFile/read(into:)``. The buffer never keeps another file's content.
    package func read(into buffer: inout ReadBuffer) {
        if file == nil { buffer.read(path: path) } else { file?.read(into: &buffer) }
    }
}

/// One ``ReadBuffer`` for all readers that read one after another.
package final class ReadScratch {
    package var buffer = ReadBuffer()
}

/// Scratch space for reading `/proc`; grows to the size of the longest file.
package struct ReadBuffer {
    private var storage: [UInt8]
    private var count = 0

    package init(capacity: Int = 4096) {
        storage = [UInt8](repeating: 0, count: capacity)
    }

    package var text: ProcText { ProcText(storage, count: count) }

    package var contents: [UInt8] { Array(storage.prefix(count)) }

    package var isEmpty: Bool { count == 0 }

    fileprivate mutating func clear() { count = 0 }

    fileprivate var isFull: Bool { count == storage.count }

    fileprivate func has(_ bytes: Int) -> Bool { count >= bytes }

    /// false at the file's end, or if it cannot be read.
    @discardableResult
    fileprivate mutating func readOn(from descriptor: Int32) -> Bool {
        if count == storage.count {
            storage.append(contentsOf: repeatElement(0, count: storage.count))
        }
        let (start, free) = (count, storage.count - count)
        let got = storage.withUnsafeMutableBytes { raw in
            raw.baseAddress.map { pread(descriptor, $0 + start, free, off_t(start)) } ?? 0
        }
        if got > 0 { count += got }
        return got > 0
    }

    /// Reads a short file that is not kept open; empty when it cannot be read.
    package mutating func read(path: String) {
        clear()
        guard let file = ProcFile(path) else { return }
        file.read(into: &self)
    }

    /// Reads a whole file that is not kept open; empty if it cannot be read.
    ///
    /// - Parameter limit: reading ends after this many bytes.
    package mutating func readAll(path: String, limit: Int = .max) {
        clear()
        guard let file = ProcFile(path) else { return }
        file.readAll(into: &self, limit: limit)
    }

    /// A process's arguments, each followed by a zero. A program may declare its whole address
    /// space as its arguments (PR_SET_MM_MAP). So we read no more than `execve` accepts by default.
    package mutating func readArguments(of pid: Int32) {
        readAll("cmdline", of: pid, limit: 2 << 20)
    }
}

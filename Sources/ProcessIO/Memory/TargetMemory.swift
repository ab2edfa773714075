import Architecture
import CSystem
import Glibc
import ProfileModel
import Synchronization

/// Reads and writes the profiled process's memory, without stopping it.
package struct TargetMemory: Sendable {
    private let source: any MemorySource
    /// The pages that were read, which are not read again; nil: each read goes to the process.
    private var pages: ReadPages?

    package init(pid: Int32) { source = KernelMemory(pid: pid) }

    package init(_ source: some MemorySource) { self.source = source }

    /// The same memory, but each page is read only once: for many small reads of memory that does
    /// not change in the meantime. A page shows the moment at which it was first read.
    package func readOnce() -> TargetMemory {
        var result = self
        result.pages = ReadPages()
        return result
    }

    /// Up to `count` bytes from `address`: fewer if the mapping ends before, none if it cannot be
    /// read.
    package func read(at address: UInt64, count: Int) -> [UInt8] {
        pages?.read(at: address, count: count, from: source.read)
            ?? source.read(at: address, count: count)
    }

    /// `count` bytes from each of the addresses, one after another. Unreadable bytes are zero.
    package func read(at addresses: [UInt64], count: Int) -> [UInt8] {
        source.read(at: addresses, count: count)
    }

    /// The bytes of a range, without touching missing pages. The copy ends before the first byte
    /// that cannot be read, and after the last page that is present.
    ///
    /// - Parameter pages: for each page of the range, whether it is present.
    package func read(_ range: Range<UInt64>, _ pages: [Bool], _ absent: AbsentPages) -> [UInt8] {
        var bytes: [UInt8] = []
        var index = 0
        let first = VirtualMemory.pageStart(of: range.lowerBound)
        while index < pages.count {
            let end = pages[index...].firstIndex { $0 != pages[index] } ?? pages.count
            let start = first + UInt64(index) * VirtualMemory.pageSize
            let piece = start..<(first + UInt64(end) * VirtualMemory.pageSize)
            let wanted = piece.clamped(to: range)
            if pages[index] {
                let read = self.read(at: wanted.lowerBound, count: wanted.count)
                bytes += read
                if read.count < wanted.count { return bytes }
            } else {
                guard absent == .zeros, end < pages.count else { return bytes }
                bytes += repeatElement(0, count: wanted.count)
            }
            index = end
        }
        return bytes
    }

    /// True if all values could be written, in one step. Ignores the memory's protection.
    @discardableResult
    package func write<Value: FixedWidthInteger>(_ values: [Value], at address: UInt64) -> Bool {
        source.write(values.withUnsafeBytes { Array($0) }, at: address)
    }

    package func word(at address: UInt64) -> UInt64? {
        let bytes = read(at: address, count: 8)
        return bytes.count == 8 ? bytes.littleEndianWord(at: 0) : nil
    }

    package func int32(at address: UInt64) -> Int32? {
        let bytes = read(at: address, count: 4)
        return bytes.count == 4 ? bytes.littleEndianInt32(at: 0) : nil
    }
}

/// Where bytes are read and written.
package protocol MemorySource: Sendable {
    func read(at address: UInt64, count: Int) -> [UInt8]
    func read(at addresses: [UInt64], count: Int) -> [UInt8]
    func write(_ bytes: [UInt8], at address: UInt64) -> Bool
}

/// Asks the real kernel.
private struct KernelMemory: MemorySource {
    let pid: Int32

    func read(at address: UInt64, count: Int) -> [UInt8] {
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let got = FirstThread.orAnother(of: pid) { tid in
                let got = fl_read_memory(tid, address, buffer.baseAddress, count)
                return got == -Int(ESRCH) ? nil : got
            }
            filled = max(0, got ?? 0)
        }
    }

    func read(at addresses: [UInt64], count: Int) -> [UInt8] {
        let size = max(0, count) * addresses.count
        guard size > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            let isRead: Bool? = FirstThread.orAnother(of: pid) { tid in
                fl_read_pieces(tid, addresses, addresses.count, buffer.baseAddress, count) == 0
                    ? true : nil
            }
            if isRead == nil { buffer.initialize(repeating: 0) }
            filled = size
        }
    }

    func write(_ bytes: [UInt8], at address: UInt64) -> Bool {
        FirstThread.orAnother(of: pid) { tid in
            ProcFile.write(bytes, to: "/proc/\(tid)/mem", at: address) ? true : nil
        } ?? false
    }
}

/// Pages of a process's memory, each as it was when it was first read.
private final class ReadPages: Sendable {
    private let pages = Mutex<[UInt64: [UInt8]]>([:])
    private static let most = 4096

    /// - Returns: nil: the range is long; ask the process itself.
    func read(
        at address: UInt64, count: Int, from read: (UInt64, Int) -> [UInt8]
    ) -> [UInt8]? {
        let size = VirtualMemory.pageSize
        guard count > 0, count <= 2 * Int(size), address <= .max - 3 * size else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            let place = address + UInt64(bytes.count)
            let start = VirtualMemory.pageStart(of: place)
            let page =
                pages.withLock { $0[start] } ?? keep(read(start, Int(size)), from: start)
            let rest = page.dropFirst(Int(place - start)).prefix(count - bytes.count)
            if rest.isEmpty { break }
            bytes += rest
        }
        return bytes
    }

    private func keep(_ page: [UInt8], from start: UInt64) -> [UInt8] {
        pages.withLock { pages in
            if pages.count >= Self.most { pages.removeAll() }
            pages[start] = page
        }
        return page
    }
}

extension [UInt8] {
    /// True if `wanted` is among these bytes. A program may be stopped in the meantime: the
    /// library's own search took 9 ms where `memmem` takes some microseconds.
    package func hasSequence(_ wanted: String.UTF8View) -> Bool {
        withUnsafeBytes { bytes in
            Array(wanted).withUnsafeBytes {
                fl_find(bytes.baseAddress, bytes.count, $0.baseAddress, $0.count) >= 0
            }
        }
    }
}

import Architecture
import CSystem
import Glibc
import System

/// A file that can be removed from the page cache. Nothing is written to it.
struct CachedFile: ~Copyable {
    private let file: Descriptor
    let path: String
    let size: Int64
    let kind: FileSystemKind
    /// Identifies the file, whatever its path.
    let identity: Identity
    /// False for other users' files: for them, mincore(2) reports all pages as cached.
    private let mayAsk: Bool

    struct Identity: Hashable {
        var device: UInt64
        var inode: UInt64
    }

    /// Throws an `errno` if the file cannot be read, or is not a regular file (EMEDIUMTYPE).
    init(path: String) throws(Errno) {
        let file = try Descriptor(regular: path)
        let status = try file.status()
        let type = fl_file_system_type(file.number)
        guard type >= 0 else { throw Errno(EIO) }
        self.file = file
        self.path = path
        size = Int64(status.st_size)
        kind = FileSystemKind(type: UInt32(truncatingIfNeeded: type))
        identity = Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        mayAsk =
            status.st_uid == geteuid() || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0
    }

    /// Removes the file from the page cache, except pages that other processes have mapped. Changed
    /// data are written to the disk first: their pages could not leave.
    func evict() {
        posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED)
        guard kind.isProvable, state().cached > 0 else { return }
        fdatasync(file.number)
        posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED)
    }

    func state() -> FileCacheState {
        guard kind.isProvable else {
            return FileCacheState(path: path, size: size, kind: kind, cached: 0, isExact: false)
        }
        let pages = mayAsk ? residentPages() : nil
        if let pages {
            return FileCacheState(
                path: path, size: size, kind: kind, cached: min(size, pages * Self.page))
        }
        guard let share = probedShare() else {
            return FileCacheState(
                path: path, size: size, kind: kind, cached: 0, isExact: false,
                problem: "its file system does not tell what is cached")
        }
        return FileCacheState(
            path: path, size: size, kind: kind, cached: Int64(Double(size) * share),
            isExact: false)
    }

    private static let page = Int64(VirtualMemory.pageSize)
    /// How much is mapped at a time.
    private static let window: Int64 = 1 << 30

    /// How many of its pages are cached; nil: it could not be mapped. Mapping reads nothing.
    private func residentPages() -> Int64? {
        var count: Int64 = 0
        var offset: Int64 = 0
        while offset < size {
            let length = Int(min(Self.window, size - offset))
            let start = mmap(nil, length, PROT_READ, MAP_SHARED, file.number, off_t(offset))
            guard let start, start != MAP_FAILED else { return nil }
            defer { munmap(start, length) }
            var pages = [UInt8](
                repeating: 0, count: VirtualMemory.wholePages(length) / Int(Self.page))
            guard mincore(start, length, &pages) == 0 else { return nil }
            count += pages.reduce(0) { $0 + Int64($1 & 1) }
            offset += Int64(length)
        }
        return count
    }

    // MARK: Probes

    /// Reads a byte without waiting for the disk. If its page is missing, the kernel still reads it
    /// with its neighbours. So only few pages, far apart, are probed, and all are removed again.
    ///
    /// - Returns: the share of them that was cached; nil: the file system does not support such
    ///   reads.
    private func probedShare() -> Double? {
        guard size > 0 else { return 0 }
        posix_fadvise(file.number, 0, 0, POSIX_FADV_RANDOM)
        let distance = max(Self.probeDistance, size / Self.probes / Self.page * Self.page)
        var offsets: [Int64] = []
        var hits = 0
        for offset in stride(from: 0, to: size, by: Int64.Stride(distance)) {
            let answer = fl_is_byte_cached(file.number, offset)
            guard answer >= 0 else { return nil }
            offsets.append(offset)
            hits += Int(answer)
        }
        guard hits < offsets.count else { return 1 }
        var byte: UInt8 = 0
        // A page that is being read cannot leave.
        for offset in offsets { pread(file.number, &byte, 1, off_t(offset)) }
        posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED)
        return Double(hits) / Double(offsets.count)
    }

    private static let probes: Int64 = 16
    private static let probeDistance: Int64 = 1 << 18
}

internal import Glibc
internal import System

/// Why a payload cannot be kept, with `errno`.
package struct QueueError: Error, Hashable, Sendable, CustomStringConvertible {
    package var path: String
    package var errno: Int32

    package var description: String { "\(path): \(String(cString: strerror(errno)))" }
}

/// Payloads that wait to be sent, one file each in a folder. If they exceed a limit, the oldest are
/// dropped and counted.
///
/// Several processes may use one folder. Once ``append(_:)`` has returned, the payload survives the end
/// of this process. A file is complete or does not exist. (A power cut may lose the newest: folders are
/// not synchronised.)
package struct DiskQueue: Sendable {
    private let folder: String
    private let mostBytes: Int

    /// Creates the folder, and missing ones above it. Only the owner can read them.
    package init(folder: String, mostBytes: Int = 64 << 20) throws(QueueError) {
        self.folder = folder
        self.mostBytes = mostBytes
        var path = folder.hasPrefix("/") ? "/" : ""
        for part in folder.split(separator: "/") {
            path += part
            if mkdir(path, 0o700) != 0 {
                let problem = errno
                guard problem == EEXIST || Self.isFolder(path) else {
                    throw QueueError(path: path, errno: problem)
                }
            }
            path += "/"
        }
        guard Self.isFolder(folder) else { throw QueueError(path: folder, errno: ENOTDIR) }
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Adds a payload as the newest.
    package func append(_ bytes: [UInt8]) throws(QueueError) {
        _ = try locked("lock") { () throws(QueueError) in
            let entries = self.entries
            let digits = String((entries.last?.number ?? 0) + 1)
            guard digits.count <= Self.digits else {
                throw QueueError(path: folder, errno: EOVERFLOW)
            }
            let zeros = String(repeating: "0", count: max(0, Self.digits - digits.count))
            let name = zeros + digits + Self.suffix
            try write(bytes, to: name)
            dropOldest(of: entries, for: bytes.count)
        }
    }

    /// Runs `body` while no other process delivers, so that no payload is sent twice.
    ///
    /// - Returns: nil if another process is delivering.
    package func delivering<Result>(
        _ body: () throws(QueueError) -> Result
    ) throws(QueueError) -> Result? {
        try locked("delivery", waiting: false, body)
    }

    package struct Entry: Hashable, Sendable {
        fileprivate var name: String
        fileprivate var number: UInt64
        package var size: Int
    }

    /// All payloads, the oldest first.
    package var entries: [Entry] {
        guard let folder = opendir(folder) else { return [] }
        defer { closedir(folder) }
        var found: [Entry] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            var status = stat()
            guard let number = Self.number(of: name), stat(path(name), &status) == 0,
                status.st_mode & S_IFMT == S_IFREG
            else { continue }
            found.append(Entry(name: name, number: number, size: Int(status.st_size)))
        }
        return found.sorted { $0.number < $1.number }
    }

    /// True if the entry exceeds the limit of the whole queue.
    package func isTooLong(_ entry: Entry) -> Bool { entry.size > mostBytes }

    package func contents(of entry: Entry) throws(QueueError) -> [UInt8] {
        let path = path(entry.name)
        do throws(Errno) {
            let bytes = try Descriptor(path).bytes(count: entry.size, expected: entry.size)
            guard bytes.count == entry.size else { throw Errno(EIO) }
            return bytes
        } catch {
            throw QueueError(path: path, errno: error.number)
        }
    }

    package func remove(_ entry: Entry) { unlink(path(entry.name)) }

    /// The number of payloads dropped since the last call.
    package func takeDropped() -> Int {
        let count = try? locked("lock") { () throws(QueueError) in
            let count = droppedSoFar
            unlink(path(Self.droppedName))
            return count
        }
        return count ?? 0
    }

    // MARK: Files

    private static let suffix = ".queued"
    private static let digits = 12

    /// nil: not one of our files.
    private static func number(of name: String) -> UInt64? {
        let digits = name.dropLast(suffix.count)
        guard name.hasSuffix(suffix), digits.utf8.count == Self.digits,
            digits.utf8.allSatisfy({ 48...57 ~= $0 })
        else { return nil }
        return UInt64(digits)
    }

    private static let droppedName = "dropped"
    private static let mostDropped = 1 << 40

    private func path(_ name: String) -> String { "\(folder)/\(name)" }

    private func write(_ bytes: [UInt8], to name: String) throws(QueueError) {
        let temporary = path(".\(getpid()).new")
        do throws(Errno) {
            let file = try Descriptor(temporary, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
            try file.write(bytes)
            // The caller will report it as kept.
            try file.synchronize()
            try file.finish()
            guard rename(temporary, path(name)) == 0 else { throw Errno(errno) }
        } catch {
            unlink(temporary)
            throw QueueError(path: path(name), errno: error.number)
        }
    }

    private func dropOldest(of entries: [Entry], for size: Int) {
        var total = entries.reduce(size) { $0 + $1.size }
        var dropped = 0
        for entry in entries where total > mostBytes {
            remove(entry)
            total -= entry.size
            dropped += 1
        }
        guard dropped > 0 else { return }
        let all = min(droppedSoFar, Self.mostDropped) + dropped
        try? write(Array("\(all)".utf8), to: Self.droppedName)
    }

    private var droppedSoFar: Int {
        let bytes = (try? WholeFile.beginning(of: path(Self.droppedName), count: 20)) ?? []
        return Int(String(decoding: bytes, as: UTF8.self)) ?? 0
    }

    /// - Returns: nil if another process has the lock and we do not wait.
    private func locked<Result>(
        _ name: String, waiting: Bool = true, _ body: () throws(QueueError) -> Result
    ) throws(QueueError) -> Result? {
        guard let lock = try lock(name, waiting: waiting) else { return nil }
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    private func lock(_ name: String, waiting: Bool) throws(QueueError) -> Descriptor? {
        do throws(Errno) {
            let file = try Descriptor(path(name), O_RDWR | O_CREAT, mode: 0o600)
            guard try file.lock(waiting: waiting) else { return nil }
            return consume file
        } catch {
            throw QueueError(path: path(name), errno: error.number)
        }
    }
}

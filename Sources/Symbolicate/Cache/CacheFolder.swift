internal import Glibc
internal import System

/// A folder of cached files: limited in total size, and safe for several processes at once.
///
/// A file is written under another name and then renamed, so that readers find it complete. Bytes
/// that are appended later are complete in themselves. The folder must belong to the user and be
/// closed to others, since its content is trusted. Under `sudo`, no file may be left in another
/// user's home.
package struct CacheFolder: Sendable {
    package let path: String
    /// Parent folders to create if they are missing.
    let makes: [String]
    /// The total size of all files, in bytes.
    let limit: Int

    /// The endings of file names.
    package enum Suffix: String, Sendable, CaseIterable {
        case answers = ".symbols"
        case places = ".places"
        case sections = ".sections"
        /// Pages to show in a browser.
        case page = ".html"
    }

    private static let temporary = ".new-"
    /// A file of an interrupted write is deleted after this many seconds.
    private static let longestWrite = 3600
    /// A file's time tells when it was last used, within this many seconds.
    private static let accuracy = 3600
    private static let mostFiles = 1 << 20

    /// For all files of the user's: symbols and pages.
    private static let usualLimit = 512 << 20

    package static var ofUser: CacheFolder? { ofUser(limit: usualLimit) }

    private static func ofUser(limit: Int) -> CacheFolder? {
        if let own = getenv("FIRSTLIGHT_CACHE") {
            let path = String(cString: own)
            return path.hasPrefix("/") ? CacheFolder(path: path, makes: [], limit: limit) : nil
        }
        if let base = variable("XDG_CACHE_HOME"), base.hasPrefix("/") {
            guard isOwn(base) else { return nil }
            return CacheFolder(path: base + "/firstlight", makes: [], limit: limit)
        }
        guard let home = variable("HOME"), home.hasPrefix("/"), isOwn(home) else { return nil }
        let base = home + "/.cache"
        return CacheFolder(path: base + "/firstlight", makes: [base], limit: limit)
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func isOwn(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_uid == geteuid()
    }

    // MARK: - Files

    /// A file's bytes; nil if there is no such file, or it is larger than `limit`.
    func map(_ name: String, limit: Int) -> MappedFile? {
        guard let folder = open() else { return nil }
        defer { close(folder) }
        let file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid(), status.st_size <= limit
        else { return nil }
        if time(nil) - status.st_mtim.tv_sec > Self.accuracy { futimens(file, nil) }
        return MappedFile(file, size: Int(status.st_size))
    }

    /// Writes a file, replacing an older one, and deletes files over the limit; false if it could
    /// not be written.
    @discardableResult
    package func write(_ bytes: [UInt8], as name: String) -> Bool {
        guard !bytes.isEmpty, bytes.count <= limit else { return false }
        for folder in makes {
            mkdir(folder, 0o700)
            guard Self.isOwn(folder) else { return false }
        }
        mkdir(path, 0o700)
        guard let folder = open() else { return false }
        defer { close(folder) }
        // Threads of this process write files of different names.
        let draft = "\(Self.temporary)\(getpid())-\(name)"
        unlinkat(folder, draft, 0)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let file = openat(folder, draft, flags, 0o600)
        guard file >= 0 else { return false }
        guard Self.write(bytes, to: Descriptor(owning: file)),
            renameat(folder, draft, folder, name) == 0
        else {
            unlinkat(folder, draft, 0)
            return false
        }
        prune(folder)
        return true
    }

    /// Appends bytes to a file; false if there is no such file, or it would be too large.
    ///
    /// One write, so that bytes of several processes do not mix. If it is cut short (a full disk),
    /// the file is damaged, and readers notice.
    func append(_ bytes: [UInt8], to name: String, limit: Int) -> Bool {
        guard let folder = open() else { return false }
        defer { close(folder) }
        let flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let file = openat(folder, name, flags)
        guard file >= 0 else { return false }
        let descriptor = Descriptor(owning: file)
        guard let status = try? descriptor.status(), status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid(), bytes.count <= limit - Int(status.st_size)
        else { return false }
        let isWritten = Self.write(bytes, to: descriptor)
        prune(folder)
        return isWritten
    }

    private static func write(_ bytes: [UInt8], to file: borrowing Descriptor) -> Bool {
        (try? file.write(bytes)) != nil
    }

    /// nil unless the folder belongs to this user, and no other user may write to it.
    private func open() -> CInt? {
        let folder = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard folder >= 0 else { return nil }
        var status = stat()
        guard fstat(folder, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o022 == 0
        else {
            close(folder)
            return nil
        }
        return folder
    }

    // MARK: - The limit

    private struct Entry {
        var name: String
        var size: Int
        var used: Int
    }

    /// Deletes drafts of interrupted writes. If the files exceed the limit, deletes the least
    /// recently used ones, until there is some spare room.
    private func prune(_ folder: CInt) {
        var files: [Entry] = []
        let now = time(nil)
        for entry in entries(of: folder) {
            if entry.name.hasPrefix(Self.temporary) {
                if now - entry.used > Self.longestWrite { unlinkat(folder, entry.name, 0) }
            } else if Suffix.allCases.contains(where: { entry.name.hasSuffix($0.rawValue) }) {
                files.append(entry)
            }
        }
        var total = files.reduce(0) { $0 &+ $1.size }
        guard total > limit else { return }
        for file in files.sorted(by: { $0.used < $1.used }) where total > limit / 8 * 7 {
            unlinkat(folder, file.name, 0)
            total -= file.size
        }
    }

    private func entries(of folder: CInt) -> [Entry] {
        let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = fdopendir(copy) else {
            if copy >= 0 { close(copy) }
            return []
        }
        defer { closedir(stream) }
        var result: [Entry] = []
        while result.count < Self.mostFiles, let entry = readdir(stream) {
            // The name ends within the entry, as the C library guarantees.
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            var status = stat()
            guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
                status.st_mode & S_IFMT == S_IFREG
            else { continue }
            result.append(
                Entry(name: name, size: Int(status.st_size), used: status.st_mtim.tv_sec))
        }
        return result
    }
}

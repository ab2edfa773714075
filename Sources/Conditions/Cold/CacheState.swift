/// How much of some files is in the page cache.
package struct CacheState: Hashable, Sendable {
    package var files: [FileCacheState]

    package init(files: [FileCacheState]) { self.files = files }

    /// The size, in bytes, of the files that can be cold at all.
    package var fileBytes: Int64 { provable.reduce(0) { $0 + $1.size } }

    /// How many of these bytes are cached; nil: this is not exactly known for some file.
    package var cachedBytes: Int64? {
        guard provable.allSatisfy(\.isExact) else { return nil }
        return provable.reduce(0) { $0 + $1.cached }
    }

    /// As ``cachedBytes``, including estimates from probes.
    package var estimatedBytes: Int64 { provable.reduce(0) { $0 + $1.cached } }

    package var provable: [FileCacheState] {
        files.filter { $0.kind.isProvable && $0.problem == nil }
    }

    /// Files that cannot be proven cold, except those that are in memory by their nature.
    package var unprovable: [FileCacheState] {
        files.filter { !$0.kind.isProvable && $0.kind != .memory || $0.problem != nil }
    }

    /// Files that stay at least half cached, because other processes have mapped them.
    package var staying: [FileCacheState] {
        provable.filter { $0.size > 0 && 2 * $0.cached >= $0.size }
    }
}

/// How much of one file is in the page cache.
package struct FileCacheState: Hashable, Sendable {
    package var path: String
    /// In bytes.
    package var size: Int64
    package var kind: FileSystemKind
    /// How many of its bytes are cached: whole pages, but no more than its size.
    package var cached: Int64
    /// True if mincore(2) reported it. Otherwise a few pages were probed, and their share is used
    /// for all.
    package var isExact: Bool
    /// Why the file's state cannot be known or changed; nil: it can.
    package var problem: String?

    package init(
        path: String, size: Int64, kind: FileSystemKind = .disk, cached: Int64,
        isExact: Bool = true, problem: String? = nil
    ) {
        self.path = path
        self.size = size
        self.kind = kind
        self.cached = cached
        self.isExact = isExact
        self.problem = problem
    }

    package var name: Substring { path.split(separator: "/").last ?? "" }
}

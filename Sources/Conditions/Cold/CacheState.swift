/// What the page cache has of some files.
package struct CacheState: Hashable, Sendable {
    package var files: [FileCacheState]

    package init(files: [FileCacheState]) { self.files = files }

    /// In bytes, of the files that can be cold at all.
    package var fileBytes: Int64 { provable.reduce(0) { $0 + $1.size } }

    /// How many of them are cached; nil: of some file it is not known exactly.
    package var cachedBytes: Int64? {
        guard provable.allSatisfy(\.isExact) else { return nil }
        return provable.reduce(0) { $0 + $1.cached }
    }

    /// The same with what is only known from probes.
    package var estimatedBytes: Int64 { provable.reduce(0) { $0 + $1.cached } }

    package var provable: [FileCacheState] {
        files.filter { $0.kind.isProvable && $0.problem == nil }
    }

    /// Those that cannot be proven to be cold, less those that are in memory by their nature.
    package var unprovable: [FileCacheState] {
        files.filter { !$0.kind.isProvable && $0.kind != .memory || $0.problem != nil }
    }

    /// Those of which others keep at least half in the cache: they have it mapped.
    package var staying: [FileCacheState] {
        provable.filter { $0.size > 0 && 2 * $0.cached >= $0.size }
    }
}

/// The same of one file.
package struct FileCacheState: Hashable, Sendable {
    package var path: String
    /// In bytes.
    package var size: Int64
    package var kind: FileSystemKind
    /// How many bytes of it are cached: whole pages, but no more than its size.
    package var cached: Int64
    /// mincore(2) has told. Otherwise a few pages were tried, and their share counts for all.
    package var isExact: Bool
    /// Why nothing can be known of it or done about it; nil: it can.
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

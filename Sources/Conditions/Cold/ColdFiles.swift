import Glibc
import System

/// The files that a launch uses, and that are removed from the page cache before the next one.
package struct ColdFiles: Hashable, Sendable {
    /// Each file once; the program comes first.
    package private(set) var paths: [String] = []
    /// The part that stayed in the cache after its removal, before anything was launched: other
    /// processes have it mapped.
    package private(set) var unavoidable = CacheState(files: [])

    /// - Parameters:
    ///   - program: the program's own file.
    ///   - others: the files that it loads and opens; files that are not regular are left out.
    package init(program: String, others: [String]) {
        var known: Set<CachedFile.Identity> = []
        for path in [program] + others {
            guard let file = try? CachedFile(path: path) else {
                // An unreadable file is reported later, when its state is asked for.
                if access(path, F_OK) == 0, !Self.isSpecial(path), !paths.contains(path) {
                    paths.append(path)
                }
                continue
            }
            if known.insert(file.identity).inserted { paths.append(path) }
        }
        unavoidable = evict()
    }

    private static func isSpecial(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 || status.st_mode & S_IFMT != S_IFREG
    }

    /// Removes the files from the page cache. Call it last before the launch: any process that
    /// reads them in the meantime, ours included, warms them.
    ///
    /// - Returns: the part that is still in the cache.
    @discardableResult
    package func evict() -> CacheState {
        each { $0.evict() }
        return state()
    }

    /// The part that is in the cache now.
    package func state() -> CacheState {
        var files: [FileCacheState] = []
        for path in paths {
            do throws(Errno) {
                files.append(try CachedFile(path: path).state())
            } catch {
                // A file that a launch has removed is ignored.
                guard error.number != ENOENT else { continue }
                files.append(
                    FileCacheState(
                        path: path, size: 0, kind: .other, cached: 0, isExact: false,
                        problem: error.description))
            }
        }
        return CacheState(files: files)
    }

    private func each(_ body: (borrowing CachedFile) -> Void) {
        for path in paths {
            guard let file = try? CachedFile(path: path) else { continue }
            body(file)
        }
    }
}

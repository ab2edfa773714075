internal import Glibc
package import ProfileModel
internal import Synchronization
internal import System

/// Fetches debug information from the servers in DEBUGINFOD_URLS.
///
/// Only if the user has set that variable: build ids tell a server which programs the user has.
package struct Debuginfod: Sendable {
    /// The progress of a fetch, for display.
    package struct Progress: Sendable {
        package var module: Module
        /// The number of the module, from 1, out of `count`.
        package var number: Int
        package var count: Int
        /// How many bytes of the current file have arrived; 0 at first.
        package var bytes: Int
    }

    /// For all files together.
    private let limit: TimeSpan

    /// nil if no server is named.
    /// - Parameter environment: gives the value of a variable. DEBUGINFOD_TIMEOUT is in seconds;
    ///   its default is 10.
    package init?(environment: (String) -> String?) {
        guard let servers = environment("DEBUGINFOD_URLS"),
            servers.contains(where: { $0 != " " })
        else { return nil }
        let seconds = environment("DEBUGINFOD_TIMEOUT").flatMap { Int64($0) } ?? 10
        limit = .milliseconds(1_000 * min(max(seconds, 1), 3_600))
    }

    /// True if libdebuginfod is installed.
    package static var isInstalled: Bool { DebuginfodLibrary() != nil }

    /// Fetches files for modules with build ids, in their order, until the time is up.
    ///
    /// - Parameter goesOn: receives the progress a few times a second; false ends the fetch.
    /// - Returns: the paths of the files, in libdebuginfod's own cache.
    package func fetch(
        for modules: [Module], goesOn: @escaping @Sendable (Progress) -> Bool
    ) -> [Module: String] {
        let wanted = modules.filter { 4...64 ~= $0.buildID.count }
        guard !wanted.isEmpty, let library = DebuginfodLibrary(), let client = library.begin()
        else { return [:] }
        defer { library.end(client) }
        library.setProgress(client) { _, bytes, _ in Watch.goesOn(bytes: bytes) ? 0 : 1 }
        defer { Watch.current.withLock { $0 = nil } }
        let deadline = MonotonicTime.now + limit
        var result: [Module: String] = [:]
        for (index, module) in wanted.enumerated() {
            let progress = Progress(
                module: module, number: index + 1, count: wanted.count, bytes: 0)
            let watch = Watch(deadline: deadline, progress: progress, goesOn: goesOn)
            Watch.current.withLock { $0 = watch }
            guard Watch.goesOn(bytes: 0) else { break }
            result[module] = Self.find(module.buildID, library, client)
        }
        return result
    }

    private static func find(
        _ buildID: [UInt8], _ library: DebuginfodLibrary, _ client: DebuginfodLibrary.Client
    ) -> String? {
        var path: DebuginfodLibrary.Path?
        let descriptor = library.findDebugInfo(client, buildID, Int32(buildID.count), &path)
        defer { free(path) }
        guard descriptor >= 0 else { return nil }
        close(descriptor)
        return path.map { String(cString: $0) }
    }

    /// The state of libdebuginfod's progress function, since that receives no context. Only one
    /// fetch runs at a time.
    private struct Watch: Sendable {
        var deadline: MonotonicTime
        var progress: Progress
        var goesOn: @Sendable (Progress) -> Bool

        static let current = Mutex<Watch?>(nil)

        static func goesOn(bytes: Int) -> Bool {
            guard var watch = current.withLock({ $0 }) else { return false }
            watch.progress.bytes = max(bytes, 0)
            return .now < watch.deadline && watch.goesOn(watch.progress)
        }
    }
}

extension Debuginfod {
    /// More files would take too long.
    private static let most = 32

    /// The modules to ask a server for: the first of those that have a build id, and whose debug
    /// information is not on this machine.
    package static func missing(of modules: [Module], _ search: DebugFileSearch) -> [Module] {
        let missing = modules.filter {
            !$0.buildID.isEmpty && !ModuleResolver($0, search: search).summary.hasDebugInfo
        }
        return Array(missing.prefix(most))
    }
}

// Loaded only when it is needed, like XCB and libunwind (CXCB, CLibunwind). libdebuginfod needs
// curl and its dependencies, 30 libraries, which would be mapped at each start for a feature that
// few users need. And if it is missing, everything else still works.
//
// Unsafe: functions are looked up by name and called with the types that elfutils' debuginfod.h
// declares since 0.179. The library is never unloaded, so they stay valid.

/// elfutils' libdebuginfod.
struct DebuginfodLibrary {
    typealias Client = OpaquePointer
    /// Called repeatedly during a fetch, with the bytes so far and in all; a result other than 0
    /// ends the fetch.
    typealias Progress = @convention(c) (Client?, Int, Int) -> Int32
    typealias Begin = @convention(c) () -> Client?
    typealias End = @convention(c) (Client?) -> Void
    typealias Path = UnsafeMutablePointer<CChar>
    /// Build id, its length, the path of the file (malloced). Returns a descriptor, or -errno.
    typealias Find =
        @convention(c) (
            Client?, UnsafePointer<UInt8>?, Int32, UnsafeMutablePointer<Path?>?
        ) -> Int32
    typealias SetProgress = @convention(c) (Client?, Progress?) -> Void

    let begin: Begin
    let end: End
    let findDebugInfo: Find
    let setProgress: SetProgress

    /// nil if the library is not installed, or too old.
    init?() {
        guard let library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL),
            let begin = dlsym(library, "debuginfod_begin"),
            let end = dlsym(library, "debuginfod_end"),
            let find = dlsym(library, "debuginfod_find_debuginfo"),
            let setProgress = dlsym(library, "debuginfod_set_progressfn")
        else { return nil }
        self.begin = unsafeBitCast(begin, to: Begin.self)
        self.end = unsafeBitCast(end, to: End.self)
        findDebugInfo = unsafeBitCast(find, to: Find.self)
        self.setProgress = unsafeBitCast(setProgress, to: SetProgress.self)
    }
}

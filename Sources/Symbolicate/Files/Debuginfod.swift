internal import Glibc
package import ProfileModel
internal import Synchronization
internal import System

/// Fetches debug information from the servers that DEBUGINFOD_URLS names.
///
/// Only who has set it asks for it: build ids tell a server which programs somebody has.
package struct Debuginfod: Sendable {
    /// How far it is, for whoever waits.
    package struct Progress: Sendable {
        package var module: Module
        /// From 1, of so many modules.
        package var number: Int
        package var count: Int
        /// Of the file that is being fetched: those that are here; 0 before.
        package var bytes: Int
    }

    /// For all files together.
    private let limit: TimeSpan

    /// nil when no server is named.
    /// - Parameter environment: the value of a variable. DEBUGINFOD_TIMEOUT is in seconds;
    ///   without it, 10.
    package init?(environment: (String) -> String?) {
        guard let servers = environment("DEBUGINFOD_URLS"),
            servers.contains(where: { $0 != " " })
        else { return nil }
        let seconds = environment("DEBUGINFOD_TIMEOUT").flatMap { Int64($0) } ?? 10
        limit = .milliseconds(1_000 * min(max(seconds, 1), 3_600))
    }

    /// Whether its library is.
    package static var isInstalled: Bool { DebuginfodLibrary() != nil }

    /// Fetches what there is for modules with build ids, in their order, until time is up.
    ///
    /// - Parameter goesOn: is told how far it is, a few times a second; false ends it.
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

    /// What libdebuginfod's progress function, which is told nothing, has to know. One fetches at
    /// a time.
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

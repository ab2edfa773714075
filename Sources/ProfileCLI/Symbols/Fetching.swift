import Analysis
import Exports
import Glibc
import ProfileModel
import Report
import Symbolicate

/// Fetches missing debug information, if the user has named a server (DEBUGINFOD_URLS).
struct Fetching {
    let console: Console
    /// nil: progress is not shown.
    let line: LiveLine?

    private var server: Debuginfod? {
        Debuginfod(environment: { getenv($0).map { String(cString: $0) } })
    }

    /// True if the user has named a server.
    var isAskedFor: Bool { server != nil }

    /// The debug files that were fetched.
    func debugFiles(for recording: Recording, _ search: DebugFileSearch) -> [Module: String] {
        guard let server else { return [:] }
        let wanted = Debuginfod.missing(
            of: Profile(recording).modulesWorthMending.map(\.module), search)
        guard !wanted.isEmpty else { return [:] }
        guard Debuginfod.isInstalled else {
            console.complain(
                "DEBUGINFOD_URLS is set, but libdebuginfod.so.1 (0.179 or later) is not installed")
            return [:]
        }
        defer { line?.wipe() }
        return server.fetch(for: wanted) { [line] progress in
            line?.show(Self.text(progress))
            return !Interrupt.isPending
        }
    }

    private static func text(_ progress: Debuginfod.Progress) -> String {
        let bytes = progress.bytes > 0 ? ", " + Numbers.bytes(Int64(progress.bytes)) : ""
        return "firstlight: fetching debug information (\(progress.number) of "
            + "\(progress.count)): \(progress.module.name)\(bytes)"
    }
}

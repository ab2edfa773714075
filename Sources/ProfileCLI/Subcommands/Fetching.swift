import Analysis
import Glibc
import ProfileModel
import Report
import Symbolicate

/// Fetches missing debug information, if the user has named a server (DEBUGINFOD_URLS).
struct Fetching {
    let console: Console
    /// nil: progress is not shown.
    let line: LiveLine?

    /// More files would take too long.
    private static let most = 32

    private var server: Debuginfod? {
        Debuginfod(environment: { getenv($0).map { String(cString: $0) } })
    }

    /// True if the user has named a server.
    var isAskedFor: Bool { server != nil }

    /// The debug files of modules that have none here and occur in at least one slice in a hundred,
    /// heaviest first.
    func debugFiles(for recording: Recording, _ search: DebugFileSearch) -> [Module: String] {
        guard let server else { return [:] }
        let wanted = modules(of: recording).filter {
            !$0.buildID.isEmpty && !ModuleResolver($0, search: search).summary.hasDebugInfo
        }
        guard !wanted.isEmpty else { return [:] }
        guard Debuginfod.isInstalled else {
            console.complain(
                "DEBUGINFOD_URLS is set, but libdebuginfod.so.1 (0.179 or later) is not installed")
            return [:]
        }
        defer { line?.wipe() }
        return server.fetch(for: Array(wanted.prefix(Self.most))) { [line] progress in
            line?.show(Self.text(progress))
            return !Interrupt.isPending
        }
    }

    private func modules(of recording: Recording) -> [Module] {
        let profile = Profile(recording)
        return profile.modules.filter { $0.isWorthMending(slices: profile.launch.slices) }
            .sorted { $0.slices > $1.slices }
            .map { Module(path: $0.path, buildID: $0.buildID) }
    }

    private static func text(_ progress: Debuginfod.Progress) -> String {
        let bytes = progress.bytes > 0 ? ", " + Numbers.bytes(Int64(progress.bytes)) : ""
        return "firstlight: fetching debug information (\(progress.number) of "
            + "\(progress.count)): \(progress.module.name)\(bytes)"
    }
}

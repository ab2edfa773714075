package import ProfileModel

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

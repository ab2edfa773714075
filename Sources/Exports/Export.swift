package import Analysis

/// The formats of other viewers.
package enum ExportFormat: String, CaseIterable, Sendable {
    case folded, svg, speedscope, firefox, pprof
    case perfScript = "perf-script"
    case chrome

    /// True if its files are gzip's: pprof's are, and its viewers expect it.
    var isCompressed: Bool { self == .pprof }
}

/// Which part of a profile to export.
package struct ExportOptions: Sendable {
    package var selection = Selection.all
    /// No meaning for `pprof`, which has cpu, wall and blocked time side by side, nor for `chrome`,
    /// which has no stacks.
    package var weight = Weight.cpu

    package init() {}
}

package enum Export {
    /// The profile in another format.
    ///
    /// Times count from the launch's start. The export adds up to the figures of `report` for the
    /// same selection.
    ///
    /// - Parameter compress: gzip, for formats that want it; the default leaves the bytes as they
    ///   are.
    package static func render(
        _ profile: Profile, as format: ExportFormat, _ options: ExportOptions = ExportOptions(),
        compress: ([UInt8]) -> [UInt8] = { $0 }
    ) -> [UInt8] {
        let bytes = bytes(of: profile, as: format, options)
        return format.isCompressed ? compress(bytes) : bytes
    }

    private static func bytes(
        of profile: Profile, as format: ExportFormat, _ options: ExportOptions
    ) -> [UInt8] {
        switch format {
        case .folded: Array(folded(profile, options).utf8)
        case .svg: Array(FlameGraph(profile, options).render().utf8)
        case .speedscope: SpeedscopeExport(profile, options).render()
        case .firefox: FirefoxExport(profile, options).render()
        case .pprof: PprofExport(profile, options).render()
        case .perfScript: Array(PerfScriptExport(profile, options).render().utf8)
        case .chrome: ChromeExport(profile, options).render()
        }
    }

    private static func folded(_ profile: Profile, _ options: ExportOptions) -> String {
        var folding = FoldedStacks.Options()
        folding.selection = options.selection
        folding.weight = options.weight
        return FoldedStacks.render(profile, options: folding)
    }
}

package import Analysis
import Exports
import ProfileModel

/// Texts about a module's symbols, for both text and JSON.
package struct ModuleWords {
    let module: ModuleFigures

    package init(_ module: ModuleFigures) { self.module = module }

    /// Where its debug information comes from, in a few words; `–` if it can have none.
    var origin: String {
        guard module.isFile || module.hasSymbols else { return "–" }
        guard let symbols = module.symbols else { return "not looked for" }
        switch symbols.debugInfoOrigin {
        case .module: return "in module"
        case .buildID: return "by build id"
        case .debugLink: return "by debuglink"
        case .debuginfod: return "debuginfod"
        case nil: break
        }
        if symbols.hasDebugInfo { return "separate" }
        switch symbols.symbolOrigin {
        case .complete: return "symbols only"
        case .miniDebugInfo: return "MiniDebugInfo"
        case .goTable: return "Go table"
        case .exported: return "exports only"
        case .perfMap: return "perf map"
        case nil: return "none"
        }
    }

    /// Sentences about files that were missing, or found but not used; without a full stop.
    package var remarks: [String] { module.symbols?.remarks.map(\.words) ?? [] }

    /// "12 of 40 addresses have no name, none has a line".
    var lack: String {
        let counts = module.addresses
        let unnamed = counts.all - counts.named
        let unlined = counts.all - counts.withLine
        let names =
            unnamed == 0
            ? "all addresses have a name"
            : "\(Numbers.grouped(unnamed)) of \(addresses(counts.all)) without a name"
        let lines =
            unlined == 0
            ? "all have a line"
            : unlined == counts.all ? "no lines" : "\(Numbers.grouped(unlined)) without a line"
        return "\(names), \(lines)"
    }

    private func addresses(_ count: Int) -> String {
        "\(Numbers.grouped(count)) address\(count == 1 ? "" : "es")"
    }

    /// Advice on how to get the missing names or lines.
    /// - Parameter package: the Debian package of the file; nil: unknown.
    func advice(package: String?) -> String {
        if module.isOwn, package == nil {
            return module.hasSymbols && module.symbols?.symbolOrigin == .complete
                ? "build it with -g" : "build it with -g, and do not strip it"
        }
        guard !module.buildID.isEmpty else {
            return "it has no build id, so its debug information cannot be found"
        }
        let id = "build id \(module.buildID.hex)"
        guard let package else {
            return "set DEBUGINFOD_URLS to your distribution's server, or install its debug "
                + "information, and record again; \(id)"
        }
        let name = package == "libc6" ? "libc6-dbg" : "\(package)-dbgsym"
        return "apt install \(name), or set DEBUGINFOD_URLS, and record again; \(id)"
    }
}

extension ModuleRemark {
    var words: String {
        switch kind {
        case .unreadable: "the file could not be read (\(detail))"
        case .otherBuildID:
            "the file is not the one that was recorded: its build id differs, so it was not used"
        case .otherDebugFile:
            "\(detail) belongs to another build and was not used"
        case .unreadableDebugFile: "a debug file could not be read: \(detail)"
        case .damagedMiniDebugInfo: "its packed symbols (.gnu_debugdata) are damaged"
        case .missingCommonFile:
            "the common debug file \(detail) (made by dwz) was not found: some names are missing"
        case .missingSplitFile:
            "its debug information is in a separate file, which was not found: \(detail)"
        case .unreadPackage: "split debug information in \(detail) (.dwp) cannot be read"
        }
    }
}

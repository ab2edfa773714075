package import ELF

/// Where a module's debug information is, if there is any.
package enum DebugInformation: Hashable, Sendable {
    case inModule
    /// In a file of its own, at this path.
    case separate(String)
    case missing
    /// The module itself cannot be read.
    case unknown(ELFFileError)

    /// For the module at `path`: the debug information that symbolication would find.
    package init(ofModuleAt path: String, search: DebugFileSearch = DebugFileSearch()) {
        do throws(ELFFileError) {
            let file = try ELFFile(path: path)
            let separate = search.find(for: path, buildID: file.buildID, link: file.debugLink)
            if file.hasDebugInfo {
                self = .inModule
            } else if let separate, separate.file.hasDebugInfo {
                self = .separate(separate.path)
            } else {
                self = .missing
            }
        } catch {
            self = .unknown(error)
        }
    }
}

package import ProfileModel

extension Profile {
    /// The modules whose debug information is worth getting, heaviest first: they lack it, and occur
    /// in at least one slice in a hundred.
    package var modulesWorthMending: [ModuleFigures] {
        modules.filter { $0.isWorthMending(slices: launch.slices) }
            .sorted { $0.slices > $1.slices }
    }
}

extension ModuleFigures {
    /// The module, for finding its files.
    package var module: Module { Module(path: path, buildID: buildID) }

    /// True if it is a file, not a mapping of the kernel's or an anonymous one.
    package var isFile: Bool { path.hasPrefix("/") && !path.hasPrefix("//") }

    /// True if debug information would tell more. Go's table has lines, too; debug information
    /// would add inlined functions.
    private var lacksDebugInfo: Bool {
        isFile && slices > 0 && !hasDebugInfo && symbols?.symbolOrigin != .goTable
    }

    fileprivate func isWorthMending(slices: Int) -> Bool {
        lacksDebugInfo
            && self.slices.multipliedReportingOverflow(by: 100).partialValue >= slices
    }
}

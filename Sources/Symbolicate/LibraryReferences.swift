package import ProfileModel

/// Finds out which of a process's libraries no other file of that process names a symbol of: what
/// was linked for nothing.
///
/// It asks the files, not the process: what a file names the dynamic linker binds, sooner or later.
/// Names are not told apart by their versions, and where two libraries define one, both count as
/// referred to. Symbols that are looked up by name at run time (`dlsym`) are named by no file.
package struct LibraryReferences: Sendable {
    private let search: DebugFileSearch

    package init(search: DebugFileSearch = DebugFileSearch()) {
        self.search = search
    }

    /// By the library's place in the recording's list; those of which it is not known are left out.
    package func find(in recording: Recording) -> [Int: Bool] {
        guard !recording.libraries.isEmpty else { return [:] }
        let used = recording.mappings.map(\.module)
            .filter { recording.modules.indices.contains($0.rawValue) }
        let modules = Set(used.filter { Self.isFile(recording.modules[$0.rawValue].path) }).sorted()
        let found = Workers.map(modules.count, makeState: {}) { _, number -> DynamicNames? in
            names(of: recording.modules[modules[number].rawValue])
        }
        let known = Dictionary(zip(modules, found), uniquingKeysWith: { $1 })
        var result: [Int: Bool] = [:]
        for child in Set(recording.libraries.map(\.child)) {
            result.merge(Self.references(in: recording, of: child, known)) { $1 }
        }
        return result
    }

    private static func references(
        in recording: Recording, of child: ChildIndex?, _ names: [ModuleIndex: DynamicNames?]
    ) -> [Int: Bool] {
        let modules = Set(recording.mappings.filter { $0.child == child }.map(\.module))
        let files = modules.compactMap { names[$0] }
        var wanted: Set<UInt64> = []
        for file in files { wanted.formUnion(file?.wanted ?? []) }
        let knowsAll = files.allSatisfy { $0 != nil }
        var places: [String: ModuleIndex] = [:]
        for module in modules where recording.modules.indices.contains(module.rawValue) {
            places[recording.modules[module.rawValue].path] = module
        }
        var result: [Int: Bool] = [:]
        for (row, library) in recording.libraries.enumerated() where library.child == child {
            guard let module = places[library.file ?? library.path],
                let defined = (names[module] ?? nil)?.defined
            else { continue }
            if defined.contains(where: wanted.contains) {
                result[row] = true
            } else if knowsAll {
                result[row] = false
            }
        }
        return result
    }

    private func names(of module: Module) -> DynamicNames? {
        let file = ModuleFiles.own(module, search)
        let names = file?.dynamicNames
        return file?.wasCutShort == true ? nil : names
    }

    /// All else that is mapped (the vdso, generated code, the kernel) wants no library's symbols.
    private static func isFile(_ path: String) -> Bool {
        path.hasPrefix("/") && !path.hasPrefix("//") && !Module.isGenerated(path)
    }
}

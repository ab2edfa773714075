internal import ELF
package import ProfileModel

/// Finds those libraries of a process to whose symbols no other file of the process refers: they
/// were linked for nothing.
///
/// It reads the files, not the process: the dynamic linker will bind every name in a file, sooner
/// or later. Versions of names are ignored, and if two libraries define a name, both count as
/// referred to. Symbols that are looked up at run time (`dlsym`) are in no file's list.
package struct LibraryReferences: Sendable {
    private let search: DebugFileSearch
    /// True if the user wants to stop; asked between one file or process and the next.
    private let isCalledOff: @Sendable () -> Bool

    package init(
        search: DebugFileSearch = DebugFileSearch(),
        isCalledOff: @escaping @Sendable () -> Bool = { false }
    ) {
        self.search = search
        self.isCalledOff = isCalledOff
    }

    /// By the library's position in the recording's list; libraries with an unknown answer are left
    /// out.
    package func find(in recording: Recording) -> [Int: Bool] {
        guard !recording.libraries.isEmpty else { return [:] }
        let used = recording.mappings.map(\.module)
            .filter { recording.modules.indices.contains($0.rawValue) }
        let modules = Set(used.filter { Self.isFile(recording.modules[$0.rawValue].path) }).sorted()
        let found = Workers.map(modules.count, makeState: {}) { _, number -> DynamicNames? in
            names(of: recording.modules[modules[number].rawValue])
        }
        let known = Dictionary(zip(modules, found), uniquingKeysWith: { $1 })
        let mappings = Dictionary(grouping: recording.mappings, by: \.child)
        let libraries = Dictionary(
            grouping: recording.libraries.indices, by: { recording.libraries[$0].child })
        var wanted: [Set<ModuleIndex>: Wanted] = [:]
        var result: [Int: Bool] = [:]
        for (child, rows) in libraries where !isCalledOff() {
            let modules = Set((mappings[child] ?? []).map(\.module))
            // Processes of one program have the same files.
            let all = wanted[modules] ?? Wanted(modules, known)
            wanted[modules] = all
            let places = Self.places(of: modules, in: recording)
            for row in rows {
                let library = recording.libraries[row]
                guard let module = places[library.file ?? library.path],
                    let defined = (known[module] ?? nil)?.defined
                else { continue }
                if defined.contains(where: all.names.contains) {
                    result[row] = true
                } else if all.isComplete {
                    result[row] = false
                }
            }
        }
        return result
    }

    /// The names that all files of a process need.
    private struct Wanted {
        var names: Set<UInt64> = []
        var isComplete: Bool

        init(_ modules: Set<ModuleIndex>, _ known: [ModuleIndex: DynamicNames?]) {
            let files = modules.compactMap { known[$0] }
            for file in files { names.formUnion(file?.wanted ?? []) }
            isComplete = files.allSatisfy { $0 != nil }
        }
    }

    private static func places(
        of modules: Set<ModuleIndex>, in recording: Recording
    ) -> [String: ModuleIndex] {
        var places: [String: ModuleIndex] = [:]
        for module in modules where recording.modules.indices.contains(module.rawValue) {
            places[recording.modules[module.rawValue].path] = module
        }
        return places
    }

    private func names(of module: Module) -> DynamicNames? {
        guard !isCalledOff() else { return nil }
        let file = ModuleFiles.own(module, search)
        let names = file?.dynamicNames
        return file?.wasCutShort == true ? nil : names
    }

    /// All other mappings (the vdso, generated code, the kernel) need no library's symbols.
    private static func isFile(_ path: String) -> Bool {
        path.hasPrefix("/") && !path.hasPrefix("//")
    }
}

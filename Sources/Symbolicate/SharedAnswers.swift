import ProfileModel
internal import Synchronization

/// What recordings that were made together have in common: a thousand children of one program ask
/// the same of the same libraries. Lives as long as they are symbolicated.
///
/// Only where a module's build id says which file it was, and nothing else than that is known of
/// where its files are: another child may have had another file of that path.
package final class SharedAnswers: Sendable {
    struct Known: Sendable {
        var summary: ModuleSymbols
        var frames: [UInt64: [SourceFrame]]
        /// Of data: nil has none.
        var names: [UInt64: String?]
    }

    private let modules = Mutex<[Module: Known]>([:])

    package init() {}

    func known(of module: Module, _ search: DebugFileSearch) -> Known? {
        guard Self.mayShare(module, search) else { return nil }
        return modules.withLock { $0[module] }
    }

    func add(_ known: Known, of module: Module, _ search: DebugFileSearch) {
        guard Self.mayShare(module, search) else { return }
        modules.withLock { modules in
            guard var others = modules[module] else { return modules[module] = known }
            others.frames.merge(known.frames) { first, _ in first }
            others.names.merge(known.names) { first, _ in first }
            modules[module] = others
        }
    }

    private static func mayShare(_ module: Module, _ search: DebugFileSearch) -> Bool {
        !module.buildID.isEmpty && search.root == nil && search.standIns[module] == nil
            && search.fetched[module] == nil
    }
}

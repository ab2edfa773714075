internal import Glibc
internal import KernelTables
internal import ProfileModel

/// The sources of kernel functions' names: the list of the running kernel, if it is the recorded
/// one, or perf's copy in `~/.debug`. The build id decides in both cases. Only the running kernel
/// tells where its modules are, so only then do modules have names.
package struct KernelLists: Sendable {
    /// The folder that contains `/proc` and `/sys`.
    private let root: String
    /// nil: perf keeps no copies.
    private let home: String?

    package init() { self.init(root: "", home: getenv("HOME").map { String(cString: $0) }) }

    package init(root: String, home: String?) {
        self.root = root
        self.home = home
    }

    struct Found {
        var summary: ModuleSymbols
        /// By the module's own addresses.
        var names: [UInt64: String] = [:]
        /// Writes to the cache the answers that it lacks.
        var addition: (@Sendable () -> Void)?
    }

    /// - Parameters:
    ///   - questions: the kernel and its modules, each with its own addresses.
    ///   - cache: has the running kernel's list, if it was read before; nil: there is none.
    /// - Returns: one answer for each.
    func find(
        _ questions: [(module: Module, addresses: [UInt64])], cache: SymbolCache? = nil
    ) -> [Found] {
        let running = RunningKernel(root: root)
        var list: KernelSymbols?
        return questions.map { module, addresses in
            if let running, let start = running.start(of: module) {
                var addition: (@Sendable () -> Void)?
                list = list ?? self.list(of: running, cache, &addition)
                if let list {
                    var found = Self.found(addresses, list, start, module)
                    found.addition = addition
                    return found
                }
            }
            if let copy = copy(of: module), let start = copy.start {
                return Self.found(addresses, copy, start, module)
            }
            return Found(summary: ModuleSymbols(remarks: [Self.remark(on: module, running)]))
        }
    }

    /// The kernel writes its list anew for each reader, which takes some 50 ms.
    ///
    /// - Parameter addition: writes it to the cache, if the cache does not have it.
    private func list(
        of kernel: RunningKernel, _ cache: SymbolCache?, _ addition: inout (@Sendable () -> Void)?
    ) -> KernelSymbols? {
        let key = SymbolCache.Key(buildID: kernel.buildID, identity: kernel.layout)
        if let known = cache?.kernelList(for: key) { return KernelSymbols(known) }
        guard let list = KernelSymbols(path: root + "/proc/kallsyms") else { return nil }
        if let cache { addition = { cache.store(kernelList: list.text, for: key) } }
        return list
    }

    private static func found(
        _ addresses: [UInt64], _ list: KernelSymbols, _ start: UInt64, _ module: Module
    ) -> Found {
        let places = Set(addresses.map { $0 &+ start }).sorted()
        let names = list.names(at: places, of: module.kernelModuleName)
        return Found(
            summary: ModuleSymbols(symbolOrigin: .complete),
            names: Dictionary(
                uniqueKeysWithValues: names.map { ($0.key &- start, Demangler.bounded($0.value)) }))
    }

    private func copy(of module: Module) -> KernelSymbols? {
        guard module.path == Module.kernelPath, module.buildID.count > 1, let home else {
            return nil
        }
        let folder = module.buildID[..<1].hex
        let name = module.buildID[1...].hex
        return KernelSymbols(path: "\(home)/.debug/.build-id/\(folder)/\(name)/kallsyms")
    }

    private static func remark(on module: Module, _ running: RunningKernel?) -> ModuleRemark {
        if module.buildID.isEmpty {
            return ModuleRemark(.unreadable, "which kernel it was is not known")
        }
        return running == nil
            ? ModuleRemark(.unreadable, "kernel.kptr_restrict hides the kernel's addresses")
            : ModuleRemark(.otherBuildID)
    }
}

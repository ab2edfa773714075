/// What the dynamic linker tells debuggers (`r_debug` of <link.h>), and where it tells it.
struct DynamicLinker: Sendable {
    /// `_dl_debug_state`, which it calls when its list of libraries changes; does nothing.
    let debugState: UInt64
    /// `r_debug`: a version, the list, the hook, and how far the linker is.
    let debug: UInt64
    /// Whether it is musl's, which tells once at start-up, when it is through with that, and reads what
    /// a library's dynamic section says of initialisers when it comes to run them.
    let isMusl: Bool

    /// nil where the linker does not tell, or there is none.
    ///
    /// - Parameter base: where it was mapped; 0 for a static program.
    init?(base: UInt64, memory: TargetMemory) {
        guard base != 0, let linker = LoadedImage(base: base, memory: memory) else { return nil }
        self.init(linker)
    }

    init?(_ linker: LoadedImage) {
        let found = linker.addresses(ofSymbols: ["_dl_debug_state", "_r_debug", "_dl_debug_addr"])
        // musl's `r_debug` has no name, but a pointer that leads there.
        let own = found[1] == nil ? found[2].flatMap { linker.writable(at: $0) } : nil
        guard let function = found[0], linker.isExecutable(function), let debug = found[1] ?? own
        else { return nil }
        self.init(debugState: function, debug: debug, isMusl: own != nil)
    }

    /// The same so much further on.
    func moved(by distance: UInt64) -> DynamicLinker {
        DynamicLinker(
            debugState: debugState &+ distance, debug: debug &+ distance, isMusl: isMusl)
    }

    private init(debugState: UInt64, debug: UInt64, isMusl: Bool) {
        self.debugState = debugState
        self.debug = debug
        self.isMusl = isMusl
    }

    /// Whether nothing is being loaded or unloaded (RT_CONSISTENT is 0).
    func isConsistent(_ memory: TargetMemory) -> Bool { memory.int32(at: debug &+ 24) == 0 }

    /// Whether it is through with the start-up's libraries: it has a list, and that is consistent.
    func hasLoaded(_ memory: TargetMemory) -> Bool {
        memory.word(at: debug &+ 8) != 0 && isConsistent(memory)
    }
}

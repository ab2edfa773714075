package import ProcessIO

/// The data that the dynamic linker publishes for debuggers (`r_debug` of <link.h>), and their
/// places.
package struct DynamicLinker: Sendable {
    /// `_dl_debug_state`: the linker calls it when its list of libraries changes. It does nothing.
    package let debugState: UInt64
    /// `r_debug`: a version, the list, the hook, and the linker's state.
    package let debug: UInt64
    /// True for musl's linker. It calls the hook only once at start-up, at the end, and reads a
    /// library's initialisers from the dynamic section only when it runs them.
    package let isMusl: Bool

    /// nil: there is no linker, or none that we can follow.
    ///
    /// - Parameter base: where the linker was mapped; 0 for a static program.
    package init?(base: UInt64, memory: TargetMemory) {
        guard base != 0, let linker = LoadedImage(base: base, memory: memory) else { return nil }
        self.init(linker)
    }

    package init?(_ linker: LoadedImage) {
        let found = linker.addresses(ofSymbols: ["_dl_debug_state", "_r_debug", "_dl_debug_addr"])
        // musl's `r_debug` has no symbol, but a pointer leads to it.
        let own = found[1] == nil ? found[2].flatMap { linker.writable(at: $0) } : nil
        guard let function = found[0], linker.isExecutable(function), let debug = found[1] ?? own
        else { return nil }
        self.init(debugState: function, debug: debug, isMusl: own != nil)
    }

    /// The same at addresses that are higher by `distance`.
    package func moved(by distance: UInt64) -> DynamicLinker {
        DynamicLinker(
            debugState: debugState &+ distance, debug: debug &+ distance, isMusl: isMusl)
    }

    private init(debugState: UInt64, debug: UInt64, isMusl: Bool) {
        self.debugState = debugState
        self.debug = debug
        self.isMusl = isMusl
    }

    /// True if nothing is being loaded or unloaded (RT_CONSISTENT is 0).
    package func isConsistent(_ memory: TargetMemory) -> Bool { memory.int32(at: debug &+ 24) == 0 }

    /// True if the start-up's libraries are loaded: the list exists and is consistent.
    package func hasLoaded(_ memory: TargetMemory) -> Bool {
        memory.word(at: debug &+ 8) != 0 && isConsistent(memory)
    }
}

extension LoadedImage {
    /// True if it is a dynamic linker: it publishes the data that debuggers need, and is not a
    /// program. (A static program that exports its names has the same symbols.)
    package var isDynamicLinker: Bool {
        guard let dynamic = segments.first(where: { $0.kind == 2 }),
            !segments.contains(where: { $0.kind == 3 })
        else { return false }
        let section = DynamicSection(at: dynamic.start, bias: bias, memory: memory)
        let isProgram = (section.value(DynamicSection.Tag.flags)?.value ?? 0) & 0x0800_0000 != 0
        return !isProgram && DynamicLinker(self) != nil
    }
}

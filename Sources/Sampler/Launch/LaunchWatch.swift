import ProfileModel

/// Notices when a new program image passes the borders of its launch, by breakpoints in the debug
/// registers of its first thread, which change nothing in its code.
struct LaunchWatch {
    enum Border: Hashable {
        /// Every library is mapped and relocated.
        case relocated
        case main
    }

    private enum Register {
        static let linker: Int32 = 0
        static let main: Int32 = 1
        static let control: Int32 = 7
        static let linkerEnabled: UInt64 = 0b0001
        static let mainEnabled: UInt64 = 0b0100
    }

    private let tracee: Tracee
    private let memory: TargetMemory
    let agent: Agent
    private let trapWasIgnored: Bool
    /// nil for a static program, or a linker that does not tell.
    let linker: DynamicLinker?
    /// Its hook, as long as there is a breakpoint on it.
    private var linkerHook: UInt64?
    /// When the linker began to map libraries.
    private(set) var mappingBegan: MonotonicTime?
    /// `main`, or the entry point as long as it is not known.
    private(set) var main: UInt64
    /// Where to find `main` when the program is relocated.
    private let mainSlot: UInt64?
    private let program: LoadedImage

    /// Prepares the stopped thread of a new image, at its first instruction. nil when its launch
    /// cannot be watched: without the agent a breakpoint could outlive us and kill the program.
    ///
    /// - Parameter isLate: it is not at its first instruction any more, but somewhere behind.
    init?(pid: Int32, firstInstruction: UInt64, isLate: Bool = false) {
        tracee = Tracee(tid: pid)
        memory = TargetMemory(pid: pid)
        let vector = AuxiliaryVector(pid: pid)
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/\(pid)/status")
        trapWasIgnored = (ProcFormats.mask("SigIgn:", buffer.text) ?? 0) & 0x10 != 0
        let trapIsBlocked = (ProcFormats.mask("SigBlk:", buffer.text) ?? 0) & 0x10 != 0

        // A blocked SIGTRAP that must be delivered is unblocked by the kernel, for good.
        guard !trapIsBlocked, vector.vdso != 0,
            let program = LoadedImage(
                programHeaders: vector.programHeaders, count: vector.programHeaderCount,
                memory: memory),
            let agent = Agent.place(vdso: vector.vdso, tracee: tracee)
        else { return nil }
        self.agent = agent
        self.program = program
        (main, mainSlot) = Self.findMain(entry: vector.entry, program: program)
        // Static, and without a recognisable `main`: it begins here and now.
        if main == firstInstruction { return nil }
        linker = DynamicLinker(base: vector.linkerBase, memory: memory)
        linkerHook = linker?.debugState
        // It may have passed `main` already.
        if isLate, linker?.hasLoaded(memory) != false { return nil }
        guard let before = try? agent.setTrapAction(.trapHandler, by: tracee) else { return nil }
        do throws(SystemError) {
            try arm()
        } catch {
            // Going on where it was undoes it all: nothing has run yet.
            try? tracee.setDebugRegister(Register.control, 0)
            try? tracee.restore(before)
            return nil
        }
    }

    private static func findMain(
        entry: UInt64, program: LoadedImage
    ) -> (main: UInt64, slot: UInt64?) {
        let code = program.memory.read(at: entry, count: StartCode.length)
        switch StartCode.main(in: code, at: entry) {
        case .at(let main) where program.isExecutable(main): return (main, nil)
        case .inSlot(let slot): return (entry, slot)
        default: return (entry, nil)
        }
    }

    private func arm() throws(SystemError) {
        var enabled = Register.mainEnabled
        try tracee.setDebugRegister(Register.main, main)
        if let linkerHook {
            try tracee.setDebugRegister(Register.linker, linkerHook)
            enabled |= Register.linkerEnabled
        }
        try tracee.setDebugRegister(Register.control, enabled)
    }

    /// Which border a trap at `address` stands for; nil when it was none of our breakpoints.
    func isBreakpoint(_ address: UInt64) -> Bool { address == main || address == linkerHook }

    /// The border at one of our breakpoints, with the thread stopped there; nil when the linker
    /// has only begun (it reports RT_ADD then; RT_CONSISTENT is 0).
    mutating func border(at address: UInt64, _ now: MonotonicTime) -> Border? {
        if address == main { return .main }
        if linker?.isConsistent(memory) == true { return .relocated }
        mappingBegan = mappingBegan ?? now
        return nil
    }

    /// Takes back what was set up for the relocation's end, which the stopped thread has reached.
    mutating func passedRelocation() throws(SystemError) {
        linkerHook = nil
        if let mainSlot, let found = memory.word(at: mainSlot), program.isExecutable(found) {
            main = found
            try tracee.setDebugRegister(Register.main, found)
        }
        try tracee.setDebugRegister(Register.control, Register.mainEnabled)
    }

    /// Takes back the breakpoints, with the thread stopped at `main`.
    func passedMain() throws(SystemError) {
        try tracee.setDebugRegister(Register.control, 0)
    }

    /// Takes back what stood by for them, with the thread stopped at `main` or in the agent.
    func restoreTrapAction() throws(SystemError) {
        try agent.setTrapAction(trapWasIgnored ? .ignored : .standard, by: tracee)
    }
}

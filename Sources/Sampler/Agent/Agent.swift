import CAgent
import Glibc

/// The code that runs inside the program: a `SIGTRAP` handler that returns, for the launch's
/// breakpoints, and the handler of the sampling signal with what belongs to it.
///
/// It is written behind the end of the vdso, into its last page's unused part: that costs no
/// system call in the program, leaves no trace in its mappings, and the page becomes private to
/// it. Whatever must be called in the program, one of its own stopped threads calls, by way of
/// an entry of this code: the recorder moves its program counter, which is one atomic step, and
/// the thread finds its way back by itself, whether or not the recorder still lives.
struct Agent: Sendable {
    /// Where the code was placed.
    let base: UInt64
    /// Whether there was room for all of it; else it serves the launch's breakpoints only.
    let canSample: Bool

    /// All of the code.
    var range: Range<UInt64> {
        base..<(base &+ UInt64(canSample ? Self.layout.length : Self.layout.launch_length))
    }

    /// Places the code (inactive yet). nil when the vdso has no room or cannot be written.
    ///
    /// - Parameter tracee: any stopped thread.
    static func place(vdso: UInt64, tracee: Tracee) -> Agent? {
        let memory = TargetMemory(pid: tracee.tid)
        guard let space = freeSpace(vdso: vdso, memory: memory) else { return nil }
        let canSample = space.count >= Int(layout.length)
        let wanted = Int(canSample ? layout.length : layout.launch_length)
        guard space.count >= wanted else { return nil }
        do throws(SystemError) {
            try tracee.write(words: Array(words.prefix((wanted + 7) / 8)), at: space.lowerBound)
            return Agent(base: space.lowerBound, canSample: canSample)
        } catch {
            return nil
        }
    }

    /// What a signal does.
    enum Action {
        case standard
        case ignored
        case trapHandler
        case sampleHandler
    }

    // MARK: Entries

    /// Makes the stopped thread set SIGTRAP's action, then go on where it was.
    @discardableResult
    func setTrapAction(
        _ action: Action, by tracee: Tracee
    ) throws(SystemError) -> Tracee.State {
        try write([UInt64(SIGTRAP)], at: Self.layout.signal, by: tracee)
        try write(words(of: action), at: Self.layout.action, by: tracee)
        return try tracee.divert(to: position(Self.layout.set_action))
    }

    /// What the code must know of the process.
    struct Identity {
        /// The process's id as it knows it itself, which differs in a container.
        var pid: Int32
        /// Our id as the process knows it; 0 where it does not.
        var recorder: Int32
    }

    /// Prepares the making of the slots; it begins at the returned address. The handler is set
    /// then, but answers nobody until ``enableSlots(at:by:)``.
    func prepareSlots(
        size: Int, slotSize: Int, identity: Identity, by tracee: Tracee
    ) throws(SystemError) -> UInt64 {
        try write([0], at: Self.layout.slots, by: tracee)
        try prepareMapping(
            size: size, protection: PROT_READ | PROT_WRITE, near: nil, by: tracee)
        try write([UInt64(slotSize) - 1], at: Self.layout.slot_mask, by: tracee)
        try write([UInt64(identity.pid)], at: Self.layout.pid, by: tracee)
        try write([UInt64(identity.recorder)], at: Self.layout.recorder, by: tracee)
        try write([UInt64(SIGURG)], at: Self.layout.sample_signal, by: tracee)
        try write(words(of: .sampleHandler), at: Self.layout.sample_action, by: tracee)
        return position(Self.layout.map_slots)
    }

    /// Prepares the making of memory for code of ours; it begins at the returned address.
    ///
    /// - Parameter place: where it should be, if there is room; nil: anywhere.
    func prepareArea(
        size: Int, near place: UInt64? = nil, by tracee: Tracee
    ) throws(SystemError) -> UInt64 {
        try prepareMapping(
            size: size, protection: PROT_READ | PROT_WRITE | PROT_EXEC, near: place, by: tracee)
        try write([Self.noSignal], at: Self.layout.sample_signal, by: tracee)
        return position(Self.layout.map_slots)
    }

    private func prepareMapping(
        size: Int, protection: Int32, near place: UInt64?, by tracee: Tracee
    ) throws(SystemError) {
        try write([place ?? 0], at: Self.layout.old_slots, by: tracee)
        try write([UInt64(size)], at: Self.layout.slots_size, by: tracee)
        try write([UInt64(protection)], at: Self.layout.protection, by: tracee)
    }

    /// Nothing happens when its action is set.
    private static let noSignal: UInt64 = 0

    /// Where a thread is that has mapped the slots and waits for us: their descriptor and address
    /// are in these registers (DWARF numbers).
    var waitingRange: Range<UInt64> {
        position(Self.layout.waiting)..<position(Self.layout.waiting_end)
    }
    static let descriptorRegister = 8
    static let addressRegister = 9

    /// Lets a system call of the C library pass by us: the instruction at `site` that loads its
    /// number becomes a jump of the same length. No thread may execute it meanwhile. Returns the
    /// word that was there; nil when the distance is too far.
    func hook(
        _ call: CallSites.Call, at site: UInt64, by tracee: Tracee
    ) throws(SystemError) -> UInt64? {
        let entry = Self.standIn(for: call)
        let distance = Int64(bitPattern: position(entry.start) &- (site &+ 5))
        guard let short = Int32(exactly: distance),
            let word = TargetMemory(pid: tracee.tid).word(at: site)
        else { return nil }
        try write([site &+ 7], at: entry.after, by: tracee)
        let jump = 0xE9 | UInt64(UInt32(bitPattern: short)) << 8
        try tracee.write(words: [word & ~0xFF_FFFF_FFFF | jump], at: site)
        return word
    }

    private static func standIn(for call: CallSites.Call) -> (start: UInt32, after: UInt32) {
        switch call {
        case .sigaction: (layout.sigaction, layout.after_sigaction)
        case .prctl: (layout.prctl, layout.after_prctl)
        case .execve: (layout.execve, layout.after_execve)
        case .sigmask: (layout.sigmask, layout.after_sigmask)
        }
    }

    /// Tells the handler where the slots are: from now on it answers, and the program is told
    /// that the signal does what it did before.
    func enableSlots(
        at address: UInt64, original: Action, by tracee: Tracee
    ) throws(SystemError) {
        try write(
            [original == .ignored ? 1 : 0], at: Self.layout.original_handler, by: tracee)
        try write([address], at: Self.layout.slots, by: tracee)
    }

    /// Where it keeps the slots' address; 0 stands there while there are none.
    var slotsWord: UInt64 { position(Self.layout.slots) }

    /// Makes the stopped thread take back the sampling signal's action (nil: the program has set
    /// its own meanwhile) and the slots at `slots` (0: they stay, because somebody may still use
    /// them), then wait in ``removedRange`` for its state to be given back; it goes on by itself
    /// when that does not come.
    func removeSlots(
        at slots: UInt64, restoring action: Action?, by tracee: Tracee
    ) throws(SystemError) -> Tracee.State {
        try write([0], at: Self.layout.slots, by: tracee)
        try write([slots], at: Self.layout.old_slots, by: tracee)
        try write([Self.napsForState], at: Self.layout.naps, by: tracee)
        let signal = action == nil ? Self.noSignal : UInt64(SIGURG)
        try write([signal], at: Self.layout.sample_signal, by: tracee)
        try write(words(of: action ?? .standard), at: Self.layout.sample_action, by: tracee)
        return try tracee.divert(to: position(Self.layout.unmap_slots))
    }

    /// Some five milliseconds.
    private static let napsForState: UInt64 = 60

    /// Makes the stopped thread take back the memory for code of ours, then wait in
    /// ``removedRange`` for its state to be given back, or, without waiting, go on where it was:
    /// that is for threads that are in no system call.
    @discardableResult
    func removeArea(
        _ range: Range<UInt64>, by tracee: Tracee, waiting: Bool
    ) throws(SystemError) -> Tracee.State {
        try write([UInt64(range.count)], at: Self.layout.slots_size, by: tracee)
        try write([range.lowerBound], at: Self.layout.old_slots, by: tracee)
        try write([waiting ? Self.napsForState : 0], at: Self.layout.naps, by: tracee)
        try write([Self.noSignal], at: Self.layout.sample_signal, by: tracee)
        return try tracee.divert(to: position(Self.layout.unmap_slots))
    }

    /// Where a thread is that has taken everything back.
    var removedRange: Range<UInt64> {
        position(Self.layout.unmapped)..<position(Self.layout.unmapped_end)
    }

    /// `struct kernel_sigaction`: handler, flags, restorer, mask.
    private func words(of action: Action) -> [UInt64] {
        let restorer = position(Self.layout.restorer)
        // SA_RESTORER | SA_ONSTACK | SA_RESTART | SA_SIGINFO
        let flags: UInt64 = 0x1C00_0004
        return switch action {
        case .standard: [0, 0x0400_0000, restorer, 0]
        case .ignored: [1, 0x0400_0000, restorer, 0]
        case .trapHandler: [position(Self.layout.trap_handler), flags, restorer, 0]
        case .sampleHandler: [position(Self.layout.sample_handler), flags, restorer, 0]
        }
    }

    private func write(
        _ words: [UInt64], at offset: UInt32, by tracee: Tracee
    ) throws(SystemError) {
        try tracee.write(words: words, at: position(offset))
    }

    private func position(_ offset: UInt32) -> UInt64 { base &+ UInt64(offset) }

    // MARK: The code

    nonisolated(unsafe) private static let layout = fl_agent_describe()

    private static let code = [UInt8](
        UnsafeBufferPointer(start: layout.code, count: Int(layout.length)))

    /// The code as words, the last one filled up with zeroes.
    private static let words: [UInt64] = {
        let padded = code + [UInt8](repeating: 0, count: 7)
        return stride(from: 0, to: code.count, by: 8).compactMap {
            padded.littleEndianWord(at: $0)
        }
    }()

    /// The free rest of the last page behind the vdso's contents, aligned.
    private static func freeSpace(vdso: UInt64, memory: TargetMemory) -> Range<UInt64>? {
        let header = memory.read(at: vdso, count: 64)
        guard header.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]),
            let sections = header.littleEndianWord(at: 40),
            let size = header.littleEndianUInt16(at: 58),
            let count = header.littleEndianUInt16(at: 60), sections < 1 << 20
        else { return nil }
        let used = sections + UInt64(size) * UInt64(count)
        let start = vdso &+ (used + 63) / 64 * 64
        let end = (start | 0xFFF) &+ 1
        let rest = memory.read(at: start, count: Int(truncatingIfNeeded: end &- start))
        // Only zeroes are free, and what an earlier recording left; and a read that stops short
        // says that the page is not mapped.
        let isOurs = rest.count >= 64 && rest.prefix(64) == code.prefix(64)
        let free = isOurs ? UInt64(rest.count) : UInt64(rest.prefix { $0 == 0 }.count) / 8 * 8
        return free > 0 ? start..<(start &+ free) : nil
    }
}

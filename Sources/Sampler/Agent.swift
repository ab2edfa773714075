import CAgent
import Glibc

/// The code that runs inside the program: a `SIGTRAP` handler that returns, for the launch's
/// breakpoints, and the handler of the sampling signal.
///
/// It is written behind the end of the vdso, into its last page's unused part: that costs no
/// system call in the program, leaves no trace in its mappings, and the page becomes private to
/// it. Whatever must be called in the program, one of its own stopped threads calls, by way of
/// an entry of this code: the recorder moves its program counter, which is one atomic step, and
/// the thread finds its way back by itself, whether or not the recorder still lives.
struct Agent: Sendable {
    /// Where the code was placed.
    let base: UInt64
    private let pid: Int32

    /// All of the code.
    var range: Range<UInt64> { base..<(base &+ UInt64(Self.layout.length)) }

    /// Places the code (inactive yet). nil when the vdso has no room or cannot be written.
    ///
    /// - Parameter tracee: any stopped thread.
    static func place(vdso: UInt64, tracee: Tracee) -> Agent? {
        let memory = TargetMemory(pid: tracee.tid)
        guard let start = freeSpace(vdso: vdso, memory: memory) else { return nil }
        let agent = Agent(base: start, pid: tracee.tid)
        do throws(SystemError) {
            try tracee.write(words: words, at: start)
            return agent
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

    /// Makes the stopped thread set SIGTRAP's action, then go on at `address`, or at where another
    /// entry begins.
    func setTrapAction(
        _ action: Action, by tracee: Tracee, then address: UInt64
    ) throws(SystemError) {
        try write([UInt64(SIGTRAP)], at: Self.layout.signal, by: tracee)
        try write(words(of: action), at: Self.layout.action, by: tracee)
        try write([address], at: Self.layout.after_action, by: tracee)
        try tracee.divert(to: position(Self.layout.set_action))
    }

    /// Prepares the making of the slots; it begins at the returned address.
    func prepareSlots(
        size: UInt64, slotSize: UInt64, by tracee: Tracee, then address: UInt64
    ) throws(SystemError) -> UInt64 {
        try write([0, size, slotSize - 1], at: Self.layout.slots, by: tracee)
        try write([UInt64(SIGURG)], at: Self.layout.sample_signal, by: tracee)
        try write(words(of: .sampleHandler), at: Self.layout.sample_action, by: tracee)
        try write([address], at: Self.layout.after_slots, by: tracee)
        return position(Self.layout.map_slots)
    }

    /// Where a thread is that is about to close the descriptor of the slots' memory: that is in
    /// rdi, and their address in r9 (both DWARF numbers below).
    var closingPosition: UInt64 { position(Self.layout.closed) }
    static let descriptorRegister = 5
    static let addressRegister = 9

    /// Lets the C library's rt_sigaction call pass by us: the instruction at `site` that loads
    /// the call's number becomes a jump of the same length. The program must have no other
    /// thread. Returns the words that were there; nil when the distance is too far.
    func hookSignalActions(
        at site: UInt64, original: Action, by tracee: Tracee
    ) throws(SystemError) -> [UInt64]? {
        let target = position(Self.layout.sigaction)
        let distance = Int64(bitPattern: target &- (site &+ 5))
        guard let short = Int32(exactly: distance) else { return nil }
        let saved = TargetMemory(pid: tracee.tid).read(at: site, count: 8)
        guard let word = saved.littleEndianWord(at: 0) else { return nil }
        try write(
            [original == .ignored ? 1 : 0, site &+ 7], at: Self.layout.original_handler, by: tracee)
        let jump = 0xE9 | UInt64(UInt32(bitPattern: short)) << 8
        try tracee.write(words: [word & ~0xFF_FFFF_FFFF | jump], at: site)
        return [word]
    }

    /// Tells the handler where the slots are: from now on it answers.
    func enableSlots(at address: UInt64, by tracee: Tracee) throws(SystemError) {
        try write([address], at: Self.layout.slots, by: tracee)
    }

    /// Makes the stopped thread take back the sampling signal's action and the slots at `slots`
    /// (0: they stay, because somebody may still use them), then go on at `address`.
    func removeSlots(
        at slots: UInt64, restoring action: Action, by tracee: Tracee, then address: UInt64
    ) throws(SystemError) {
        try write([0], at: Self.layout.slots, by: tracee)
        try write([slots], at: Self.layout.old_slots, by: tracee)
        try write(words(of: action), at: Self.layout.sample_action, by: tracee)
        try write([address], at: Self.layout.after_slots, by: tracee)
        try tracee.divert(to: position(Self.layout.unmap_slots))
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

    /// The code as words, the last one filled up with zeroes.
    private static let words: [UInt64] = {
        let code = [UInt8](UnsafeBufferPointer(start: layout.code, count: Int(layout.length)))
        let padded = code + [UInt8](repeating: 0, count: 7)
        return stride(from: 0, to: code.count, by: 8).compactMap {
            padded.littleEndianWord(at: $0)
        }
    }()

    /// The first free, aligned address behind the vdso's contents that leaves room for the code.
    private static func freeSpace(vdso: UInt64, memory: TargetMemory) -> UInt64? {
        let header = memory.read(at: vdso, count: 64)
        guard header.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]),
            let sections = header.littleEndianWord(at: 40),
            let size = header.littleEndianUInt16(at: 58),
            let count = header.littleEndianUInt16(at: 60), sections < 1 << 20
        else { return nil }
        let used = sections + UInt64(size) * UInt64(count)
        let start = vdso &+ (used + 63) / 64 * 64
        let room = (start | 0xFFF) &+ 1 &- start
        let wanted = 8 * words.count
        let rest = memory.read(at: start, count: wanted)
        // Only zeroes are free; and a read that stops short says that the page is not mapped.
        guard room >= UInt64(wanted), rest.count == wanted, rest.allSatisfy({ $0 == 0 }) else {
            return nil
        }
        return start
    }
}

import CAgent

/// The code that runs inside the program: so far only a `SIGTRAP` handler that returns.
///
/// A breakpoint outlives a recorder that is killed, and would then kill the program. With this
/// handler in place the program only loses 2 µs at it. The code is written behind the end of the
/// vdso, into its last page's unused part: that costs no system call in the program, leaves no
/// trace in its mappings, and the page becomes private to it.
struct Agent: Sendable {
    /// Where the code was placed.
    let base: UInt64
    private let tracee: Tracee

    /// All of the code.
    var range: Range<UInt64> { base..<(base &+ UInt64(Self.layout.length)) }

    /// Places the code (inactive yet). nil when the vdso has no room or cannot be written.
    static func place(vdso: UInt64, memory: TargetMemory, tracee: Tracee) -> Agent? {
        guard let start = freeSpace(vdso: vdso, memory: memory) else { return nil }
        let agent = Agent(base: start, tracee: tracee)
        do throws(SystemError) {
            try tracee.write(words: words, at: start)
            return agent
        } catch {
            return nil
        }
    }

    /// Makes the stopped thread set the handler, then go on at `address`.
    func install(continuingAt address: UInt64) throws(SystemError) {
        // SA_RESTORER | SA_ONSTACK | SA_RESTART
        try run(handler: position(Self.layout.trap_handler), flags: 0x1C00_0000, then: address)
    }

    /// Makes the stopped thread restore what `SIGTRAP` did when the program was started (only
    /// "default", 0, and "ignored", 1, survive an exec), then go on at `address`.
    func remove(trapWasIgnored: Bool, continuingAt address: UInt64) throws(SystemError) {
        try run(handler: trapWasIgnored ? 1 : 0, flags: 0x0400_0000, then: address)
    }

    /// Everything is in place before the program counter moves: the last step is atomic.
    private func run(handler: UInt64, flags: UInt64, then address: UInt64) throws(SystemError) {
        try tracee.write(
            words: [handler, flags, position(Self.layout.restorer), 0],
            at: position(Self.layout.action))
        try tracee.write(words: [address], at: position(Self.layout.continuation))
        try tracee.setProgramCounter(position(Self.layout.set_action))
    }

    private func position(_ offset: UInt32) -> UInt64 { base &+ UInt64(offset) }

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
        let rest = memory.read(at: start, count: 8 * words.count)
        // Only zeroes are free; and a read that stops short says that the page is not mapped.
        guard room >= UInt64(8 * words.count), rest.count == 8 * words.count,
            rest.allSatisfy({ $0 == 0 })
        else {
            return nil
        }
        return start
    }
}

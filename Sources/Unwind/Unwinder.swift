import Architecture
package import ProfileModel

/// An unwound stack: as many of its frames as could be found.
package struct Callstack: Sendable {
    /// Innermost first.
    package var frames: [FrameAddress]
    /// nil when the last frame is the thread's entry function.
    package var truncation: Truncation?

    package init(frames: [FrameAddress], truncation: Truncation?) {
        self.frames = frames
        self.truncation = truncation
    }
}

/// Unwinds snapshots from the registers, the copied stack, and the modules' tables alone.
///
/// There are two walks over the same tables. The quick one knows three registers and compact rules
/// cached by address; it serves nearly every stack. If a frame needs more (DWARF expressions, other
/// registers), the careful walk starts again at the leaf with all registers.
///
/// Each process, and each thread that unwinds, has its own: threads share nothing.
package final class Unwinder {
    private(set) var space: AddressSpace
    let cache: RuleCache
    private let engine: UnwindEngine
    private let opinion: SecondOpinion
    /// libunwind's walk over the present mappings; made on demand.
    private var library: LibraryWalk?
    /// For tests: false keeps our own walk at its first frame.
    package var hasRules = true

    /// - Parameters:
    ///   - files: shared by several processes, one of which this serves.
    ///   - process: its number among them; nil: it is the only one, or the first.
    ///   - opinion: belongs to the thread that unwinds.
    package init(
        files: MappedFiles = MappedFiles(), process: Int? = nil, engine: UnwindEngine = .quick,
        opinion: SecondOpinion = SecondOpinion()
    ) {
        self.engine = engine
        self.opinion = opinion
        space = AddressSpace(files, process: process)
        cache = RuleCache(bits: process == nil ? RuleCache.largeBits : RuleCache.smallBits)
    }

    /// All modules seen so far, of all processes that share them; frames refer to them by position.
    package var modules: [Module] { space.modules }

    /// True if the mapped file could be read. If not, it is gone, or another file has its path now.
    package func isReadable(_ module: ModuleIndex) -> Bool { space.isReadable(module) }

    /// How many addresses' rules were found in the cache, and how many had to be computed.
    package var cacheFigures: (hits: Int, misses: Int) { (cache.hits, cache.misses) }

    /// Takes the process's new list of code mappings; see `AddressSpace.update`.
    package func update(
        _ code: [CodeMapping], at time: MonotonicTime,
        openAlternative: (CodeMapping) -> [String] = { _ in [] },
        memory: (UInt64, Int) -> [UInt8]? = { _, _ in nil }
    ) -> [Mapping] {
        let (added, keepsOthers) = space.update(
            code, at: time, openAlternative: openAlternative, memory: memory)
        if !keepsOthers { cache.removeAll() }
        if !keepsOthers || !added.isEmpty { library = nil }
        return added
    }

    /// All of the process's present mappings, with modules, for another recording of it.
    package func mappings(at time: MonotonicTime) -> [Mapping] { space.mappings(at: time) }

    /// For a single stack; for many, use a ``FrameBuffer`` or a ``StackInterner``.
    package func unwind(_ snapshot: Snapshot) -> Callstack {
        var buffer = FrameBuffer()
        let truncation = unwind(snapshot, into: &buffer)
        return Callstack(frames: buffer.frames, truncation: truncation)
    }

    /// Unwinds into the caller's memory, without allocating.
    ///
    /// - Returns: nil when the last frame is the thread's entry function.
    package func unwind(_ snapshot: Snapshot, into buffer: inout FrameBuffer) -> Truncation? {
        let frames = buffer.memory
        let (count, truncation) = StackMemory.with(snapshot) { memory in
            walk(snapshot.registers, memory, into: frames)
        }
        buffer.count = count
        buffer.firstStackPointer = snapshot.registers.stackPointer
        if space.hasOwnCode {
            buffer.removeAll { $0.module < 0 && space.isOwnCode($0.address) }
        }
        return truncation
    }

    /// Announces the snapshot that will be unwound next, if known. Unwinding snapshots that have
    /// just been read consists mostly of waiting for their memory.
    package static func prepare(_ snapshot: Snapshot) { StackMemory.prefetch(snapshot) }

    private func walk(
        _ registers: Registers, _ memory: StackMemory,
        into frames: UnsafeMutablePointer<WalkFrame>
    ) -> (count: Int, truncation: Truncation?) {
        if engine == .libunwind, let library = libraryWalk() {
            return library.walk(registers, memory, into: frames)
        }
        let own = ownWalk(registers, memory, into: frames)
        guard own.truncation == .noRule else { return own }
        return finish(own.count, registers, memory, into: frames) ?? own
    }

    /// Two walks over the same tables.
    private func ownWalk(
        _ registers: Registers, _ memory: StackMemory,
        into frames: UnsafeMutablePointer<WalkFrame>
    ) -> (count: Int, truncation: Truncation?) {
        var walk = Walk(registers, into: frames)
        let end = quickWalk(&walk, memory, mayGuess: true)
        guard hasRules else { return (min(walk.count, 1), .noRule) }
        guard case .needsTables = end else { return (walk.count, end.truncation) }
        var careful = Walk(registers, into: frames)
        let carefulEnd = carefulWalk(&careful, registers, memory)
        return (careful.count, carefulEnd.truncation)
    }

    /// Finishes a stack of which our walk has `count` frames and no rule for the last.
    @inline(never)
    private func finish(
        _ count: Int, _ registers: Registers, _ memory: StackMemory,
        into frames: UnsafeMutablePointer<WalkFrame>
    ) -> (count: Int, truncation: Truncation?)? {
        opinion.improve(count, frames) { place in
            libraryWalk()?.walk(registers, memory, into: place) ?? (0, .noRule)
        }.map { ($0, nil) }
    }

    /// nil: libunwind cannot be loaded, or there is no memory.
    private func libraryWalk() -> LibraryWalk? {
        if library == nil { library = LibraryWalk(space) }
        return library
    }

    /// The frame of an instruction in the process; nil if no code is mapped there.
    package func frame(ofInstruction address: UInt64) -> FrameAddress? {
        guard let index = space.rangeIndex(around: address) else { return nil }
        let range = space.ranges[index]
        return FrameAddress(
            module: range.module, address: CodeAddress(address &- range.bias, .instruction))
    }

    /// The tables' facts about an address, for the cache.
    @inline(never)
    func makeEntry(for address: UInt64) -> CachedRule {
        guard let index = space.rangeIndex(around: address) else {
            return CachedRule(
                address: address, bias: 0, rule: UnwindRule(.unmapped), module: -1)
        }
        let range = space.ranges[index]
        return CachedRule(
            address: address, bias: range.bias, rule: rule(at: address, in: range),
            module: range.moduleNumber)
    }

    func rule(at address: UInt64, in range: AddressSpace.Range) -> UnwindRule {
        range.tables?.rule(at: address &- range.bias) ?? UnwindRule(.frameRecord)
    }
}

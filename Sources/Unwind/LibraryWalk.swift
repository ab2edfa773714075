import Architecture
import CLibunwind
import ProfileModel

/// The same walk by another engine: libunwind's remote unwinding. It is not specific to a processor
/// here, and sees no more than our own walk: the snapshot, and the modules' files.
///
/// Unsafe code: libunwind's handle and the table of our answers are owned here. A request lives as
/// long as its call. All questions are checked as in any walk.
final class LibraryWalk {
    private let library: OpaquePointer
    private let source: UnsafeMutablePointer<fl_library_source>
    private var images: ImageMemory
    private let space: AddressSpace
    private var rules = KeptRules()

    /// The most words that libunwind may read for one stack: damaged tables must not keep it busy
    /// for ever.
    private static let mostReads: UInt64 = 200_000

    /// - Parameter space: the present mappings; other mappings need another walk.
    /// - Returns: nil: libunwind cannot be loaded, or there is no memory.
    init?(_ space: AddressSpace) {
        self.space = space
        images = ImageMemory(space)
        source = .allocate(capacity: 1)
        source.initialize(to: Self.answers)
        guard let library = fl_library_create(source) else {
            source.deallocate()
            return nil
        }
        self.library = library
    }

    deinit {
        fl_library_free(library)
        source.deallocate()
    }

    /// One stack that is being unwound.
    fileprivate struct Request {
        unowned let owner: LibraryWalk
        let registers: Registers
        let memory: StackMemory
        let frames: UnsafeMutablePointer<WalkFrame>
        var count = 0
        /// Why the walk cannot continue, as far as our answers tell.
        var problem: Truncation?
        /// The last frame's lookup address, and its range.
        var last: (address: UInt64, range: AddressSpace.Range)?
        /// The last frame's frame pointer.
        var framePointer: UInt64?
    }

    /// - Parameter frames: room for `Walk.frameLimit` of them.
    func walk(
        _ registers: Registers, _ memory: StackMemory,
        into frames: UnsafeMutablePointer<WalkFrame>
    ) -> (count: Int, truncation: Truncation?) {
        var request = Request(owner: self, registers: registers, memory: memory, frames: frames)
        let end = withUnsafeMutablePointer(to: &request) {
            fl_library_unwind(
                library, $0, Self.mostReads, Int32(Registers.framePointer))
        }
        return (request.count, truncation(of: request, end: Int(end)))
    }

    private func truncation(of request: Request, end: Int) -> Truncation? {
        // libunwind gives the same answer if tables have no caller and if there are no tables. The
        // psABI marks the outermost frame by a frame pointer of 0; a leaf's may be anything.
        if end == fl_library_end, let (address, range) = request.last,
            request.count > 1 && request.framePointer == 0 || hasRule(address, range)
        {
            return nil
        }
        return request.problem ?? .noRule
    }

    /// True if libunwind has a rule there: it knows no tables other than `.eh_frame`.
    fileprivate func hasRule(_ address: UInt64, _ range: AddressSpace.Range) -> Bool {
        range.tables?.harmlessEntry(around: address &- range.bias) != nil
    }

    // MARK: Answers

    private static let answers = fl_library_source(
        word: { context, address, value in
            LibraryWalk.answer(context, value) { $0.word(at: address) }
        },
        value: { context, number, value in
            LibraryWalk.answer(context, value) { $0.register(Int(number)) }
        },
        entry: { context, address, value in
            LibraryWalk.answer(context, value) { $0.entry(around: address) }
        },
        frame: { context, address, isReturnAddress, value, isKnown in
            guard let context else { return 0 }
            let request = context.assumingMemoryBound(to: Request.self)
            request.pointee.framePointer = isKnown != 0 ? value : nil
            return request.pointee.add(address, isReturnAddress: isReturnAddress != 0) ? 1 : 0
        })

    private static func answer(
        _ context: UnsafeMutableRawPointer?, _ value: UnsafeMutablePointer<UInt64>?,
        _ body: (inout Request) -> UInt64?
    ) -> Int32 {
        guard let context, let value else { return 0 }
        guard let found = body(&context.assumingMemoryBound(to: Request.self).pointee) else {
            return 0
        }
        value.pointee = found
        return 1
    }
}

extension LibraryWalk.Request {
    fileprivate mutating func word(at address: UInt64) -> UInt64? {
        if let word = memory.word(at: address) ?? owner.constant(at: address) { return word }
        // Generated code is in no file.
        problem = owner.range(around: address) == nil ? .stackLimit : .noRule
        return nil
    }

    fileprivate mutating func register(_ number: Int) -> UInt64? {
        let wanted =
            switch number {
            case fl_library_counter: Registers.programCounter
            case fl_library_stack: Registers.stackPointer
            default: number
            }
        if let value = registers[wanted] { return value }
        problem = .unknownRegister
        return nil
    }

    fileprivate mutating func entry(around address: UInt64) -> UInt64? {
        guard let range = owner.range(around: address) else { return nil }
        return range.tables?.harmlessEntry(around: address &- range.bias).map { $0 &+ range.bias }
    }

    /// - Returns: true if libunwind may go on to the next frame.
    fileprivate mutating func add(_ address: UInt64, isReturnAddress: Bool) -> Bool {
        guard count < Walk.frameLimit else {
            problem = .frameLimit
            return false
        }
        let lookup = isReturnAddress ? address &- 1 : address
        let range = owner.range(around: lookup)
        guard range != nil || count == 0 else {
            problem = .unmappedCode
            return false
        }
        // Without a rule, libunwind believes the frame pointer, which may be the caller's own.
        if isReturnAddress, let last, let range, !owner.hasRule(last.address, last.range),
            range.tables?.isBehindCallOfKnown(address &- range.bias) == true
        {
            problem = .noRule
            return false
        }
        if !isReturnAddress, count > 0 { frames[count - 1].isNoCall() }
        frames[count] = WalkFrame(
            address: address &- (range?.bias ?? 0), module: range?.moduleNumber ?? -1,
            isReturnAddress: isReturnAddress, depth: WalkFrame.unknownDepth)
        count += 1
        owner.prepare(forRuleOf: address, isReturnAddress: isReturnAddress)
        last = range.map { (lookup, $0) }
        problem = nil
        return true
    }
}

extension LibraryWalk {
    fileprivate func prepare(forRuleOf address: UInt64, isReturnAddress: Bool) {
        if !rules.add(address, isReturnAddress: isReturnAddress) { fl_library_forget(library) }
    }

    fileprivate func constant(at address: UInt64) -> UInt64? { images.word(at: address) }

    fileprivate func range(around address: UInt64) -> AddressSpace.Range? {
        space.rangeIndex(around: address).map { space.ranges[$0] }
    }
}

/// The rules that libunwind may have cached. It finds them by address alone, but the rule for an
/// instruction may differ from that for a call which returns to the same address: behind a call
/// that never returns, there is a landing pad, or another function.
private struct KeptRules {
    private var kinds: [UInt64: Bool] = [:]

    /// libunwind itself keeps 128.
    private static let most = 4096

    /// - Returns: true if its cached rules may be used.
    mutating func add(_ address: UInt64, isReturnAddress: Bool) -> Bool {
        let known = kinds.updateValue(isReturnAddress, forKey: address)
        let isUsable = known == nil || known == isReturnAddress
        if isUsable, kinds.count < Self.most { return true }
        kinds = [address: isReturnAddress]
        return false
    }
}

/// Where the dynamic linker and the C library will find the initialisers that they are going to
/// run, so that each can be replaced by a thunk and put back.
struct InitializerPlan: Sendable {
    struct Site: Hashable, Sendable {
        /// The initialiser's address.
        var function: UInt64
        /// Where the word lies that leads to it, and what it is.
        var address: UInt64
        var word: UInt64
        /// What is added to the word to get the address.
        var bias: UInt64

        /// What the word must be for another function to be called.
        func word(for function: UInt64) -> UInt64 { function &- bias }
    }

    /// In the order of the linker's list, each object's own in the order in which they run.
    private(set) var sites: [Site] = []
    /// Whether any does more than what the compiler's start files put into every program.
    private(set) var isWorthwhile = false

    /// Beyond this somebody is hostile.
    private static let mostSites = 8192

    init(_ objects: [LinkedObject], memory: TargetMemory) {
        for object in objects {
            let found = Self.sites(of: object, memory)
            guard sites.count + found.count <= Self.mostSites else { return }
            sites += found
            // The C library's own run in every program, and take next to no time.
            if !isWorthwhile, !object.path.hasSuffix("/libc.so.6") {
                isWorthwhile = found.contains { !StartFileCode.isKnown($0.function, memory) }
            }
        }
    }

    private static func sites(of object: LinkedObject, _ memory: TargetMemory) -> [Site] {
        typealias Tag = DynamicSection.Tag
        let section = object.dynamic
        var sites = array(object, Tag.preinitializers, Tag.preinitializersSize, memory)
        if let (value, address) = section.value(Tag.initializer), value != 0 {
            sites.append(
                Site(
                    function: object.bias &+ value, address: address, word: value,
                    bias: object.bias))
        }
        return sites + array(object, Tag.initializers, Tag.initializersSize, memory)
    }

    private static func array(
        _ object: LinkedObject, _ tag: UInt64, _ sizeTag: UInt64, _ memory: TargetMemory
    ) -> [Site] {
        guard let start = object.dynamic.value(tag)?.value,
            let size = object.dynamic.value(sizeTag)?.value, size <= UInt64(8 * mostSites)
        else { return [] }
        let base = object.bias &+ start
        let bytes = memory.read(at: base, count: Int(size))
        return stride(from: 0, to: bytes.count - 7, by: 8).compactMap { offset in
            guard let function = bytes.littleEndianWord(at: offset), function != 0,
                function != .max
            else { return nil }
            return Site(
                function: function, address: base &+ UInt64(offset), word: function, bias: 0)
        }
    }
}

/// What the compiler's start files (crti.o, crtbegin.o) put into every program and library, known
/// by its code: nobody's launch is slow because of it.
enum StartFileCode {
    private static let any: [UInt8?] = [nil, nil, nil, nil]
    /// `endbr64`, where the compiler was told to mark the targets of indirect calls.
    private static let mark: [UInt8?] = [0xF3, 0x0F, 0x1E, 0xFA]
    /// `frame_dummy`: a jump to `register_tm_clones`.
    private static let jump: [UInt8?] = [0xE9] + any
    /// `_init`: calls `__gmon_start__` if there is one.
    private static let profiling: [UInt8?] =
        [0x48, 0x83, 0xEC, 0x08, 0x48, 0x8B, 0x05] + any
        + [0x48, 0x85, 0xC0, 0x74, 0x02, 0xFF, 0xD0, 0x48, 0x83, 0xC4, 0x08, 0xC3]
    private static let known = [jump, profiling, mark + jump, mark + profiling]

    static func isKnown(_ function: UInt64, _ memory: TargetMemory) -> Bool {
        let code = memory.read(at: function, count: 32)
        return known.contains { matches($0, code) }
    }

    static func matches(_ pattern: [UInt8?], _ code: [UInt8]) -> Bool {
        code.count >= pattern.count
            && zip(pattern, code).allSatisfy { expected, byte in expected ?? byte == byte }
    }
}

/// CPython's trampolines for perf (`-X perf`, `PYTHONPERFSUPPORT=1`; since 3.12). Each Python
/// function is called through its own copy of one short function, `Python/asm_trampoline.S`, in
/// memory without a file. The interpreter's file has the original, whose instructions tell what a
/// copy has pushed and where. Copies are in arenas of 64 KiB: in 3.12 one directly after another,
/// since then at multiples of 16 bytes (`Python/perf_trampoline.c`).
package struct PythonTrampoline: Hashable, Sendable {
    /// How many bytes the code has pushed before each of its instructions, by the instruction's
    /// offset.
    private let pushed: [UInt64: UInt64]
    /// The offset after its call.
    private let returnOffset: UInt64
    /// True if it pushes the caller's frame pointer.
    package let savesFramePointer: Bool

    /// The possible distances between two copies; which one is right depends on the version.
    private let strides: [UInt64]

    private static let arenaSize: UInt64 = 64 << 10
    private static let alignment: UInt64 = 16
    /// The original's symbol.
    package static let name: StaticString = "_Py_trampoline_func_start"
    /// The number of bytes that are needed of the original's code.
    @inlinable package static var length: Int { 16 }

    /// `sub $8, %rsp; call *%rcx; add $8, %rsp; ret`
    private static let plain: [[UInt8]] = [
        [0x48, 0x83, 0xEC, 0x08], [0xFF, 0xD1], [0x48, 0x83, 0xC4, 0x08], [0xC3],
    ]
    /// `push %rbp; mov %rsp, %rbp; call *%rcx; pop %rbp; ret`
    private static let framed: [[UInt8]] = [
        [0x55], [0x48, 0x89, 0xE5], [0xFF, 0xD1], [0x5D], [0xC3],
    ]

    /// nil: the trampoline has another shape.
    ///
    /// - Parameter code: ``length`` bytes of the original.
    package init?(code: [UInt8]) {
        let rest = code.dropFirst(code.landingMarkLength)
        let first = UInt64(rest.startIndex)
        if rest.starts(with: Self.plain.joined()) {
            self.init(Self.plain, at: first, savesFramePointer: false)
        } else if rest.starts(with: Self.framed.joined()) {
            self.init(Self.framed, at: first, savesFramePointer: true)
        } else {
            return nil
        }
    }

    private init(_ instructions: [[UInt8]], at first: UInt64, savesFramePointer: Bool) {
        var pushed: [UInt64: UInt64] = first == 0 ? [:] : [0: 0]
        var (place, returnOffset) = (first, first)
        for (index, instruction) in instructions.enumerated() {
            pushed[place] = index == 0 || index == instructions.count - 1 ? 0 : 8
            place += UInt64(instruction.count)
            if instruction[0] == 0xFF { returnOffset = place }
        }
        strides = [place, (place + Self.alignment - 1) / Self.alignment * Self.alignment]
        self.pushed = pushed
        self.returnOffset = returnOffset
        self.savesFramePointer = savesFramePointer
    }

    /// The possible distances of a copy's return address above the stack pointer.
    ///
    /// - Parameters:
    ///   - offset: from the arena's first byte.
    ///   - isReturnAddress: true if the thread will return there.
    /// - Returns: empty if no copy has an instruction, or a call, there.
    package func returnPlaces(at offset: UInt64, isReturnAddress: Bool) -> Set<UInt64> {
        var places: Set<UInt64> = []
        for stride in strides {
            let place = offset % Self.arenaSize % stride
            if isReturnAddress, place != returnOffset { continue }
            if let pushed = pushed[place] { places.insert(pushed) }
        }
        return places
    }
}

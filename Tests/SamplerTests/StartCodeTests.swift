import Glibc
import ProcessIO
import ProfileModel
import TestSupport
import Testing

@testable import Architecture
@testable import Sampler

/// Real entry code, as objdump shows it.
@Suite struct StartCodeTests {
    /// glibc 2.36, up to the first argument's register.
    private static let glibcHead: [UInt8] = [
        0x31, 0xED, 0x49, 0x89, 0xD1, 0x5E, 0x48, 0x89, 0xE2, 0x48, 0x83, 0xE4, 0xF0, 0x50, 0x54,
        0x45, 0x31, 0xC0, 0x31, 0xC9,
    ]
    /// Up to where newer ones clear two registers.
    private static let olderHead = [UInt8](glibcHead.prefix(15))
    private static let callByTable: [UInt8] = [0xFF, 0x15, 0x67, 0x2D, 0, 0, 0xF4, 0x66, 0x2E]
    private static let callDirect: [UInt8] = [0x67, 0xE8, 0xAF, 0x13, 0, 0, 0xF4, 0x66, 0x2E]

    /// The place of main, without where the code names it.
    private enum Found: Hashable {
        case at(UInt64)
        case inSlot(UInt64)
    }

    private func main(_ code: [UInt8], _ entry: UInt64) -> Found? {
        switch StartCode(code, at: entry).main {
        case nil: nil
        case .at(let address, _): .at(address)
        case .inSlot(let slot): .inSlot(slot)
        }
    }

    @Test func positionIndependent() {
        let code =
            Self.glibcHead + [0x48, 0x8D, 0x3D, 0xA5, 0xFE, 0xFF, 0xFF] + Self.callByTable
        #expect(main(code, 0x1280) == .at(0x1140))
        #expect(main(code, 0x55D0_1234_5280) == .at(0x55D0_1234_5140))
    }

    @Test func positionDependent() {
        let code =
            Self.glibcHead + [0x48, 0xC7, 0xC7, 0x30, 0x11, 0x40, 0x00] + Self.callByTable
        #expect(main(code, 0x40_1250) == .at(0x40_1130))
    }

    @Test func statically() {
        let fixed = Self.glibcHead + [0x48, 0xC7, 0xC7, 0x30, 0x15, 0x40, 0x00] + Self.callDirect
        #expect(main(fixed, 0x40_1650) == .at(0x40_1530))
        let moved = Self.glibcHead + [0x48, 0x8D, 0x3D, 0xA5, 0xFE, 0xFF, 0xFF] + Self.callDirect
        #expect(main(moved, 0x7F00_0000_9730) == .at(0x7F00_0000_95F0))
    }

    /// lld and others use the offset table.
    @Test func indirect() {
        let code =
            Self.glibcHead + [0x48, 0x8B, 0x3D, 0x45, 0x2D, 0x00, 0x00] + Self.callByTable
        #expect(main(code, 0x1280) == .inSlot(0x1280 + 27 + 0x2D45))
    }

    /// `mov $main, %edi`, and `endbr64` at the start, as other toolchains have it.
    @Test func otherSpellings() {
        let short = Self.glibcHead + [0xBF, 0x30, 0x15, 0x40, 0x00] + Self.callDirect
        #expect(main(short, 0x40_1650) == .at(0x40_1530))
        let landing =
            [0xF3, 0x0F, 0x1E, 0xFA] + Self.glibcHead
            + [0x48, 0x8D, 0x3D, 0xCA, 0x00, 0x00, 0x00] + Self.callByTable
        #expect(main(landing, 0x1060) == .at(0x1060 + 31 + 0xCA))
    }

    /// Before glibc 2.34 two more addresses were passed: whatever bytes they consist of.
    @Test(arguments: [0x10, 0xBF] as [UInt8])
    func olderGlibc(secondByte: UInt8) {
        let fixed: [UInt8] =
            Self.olderHead + [0x49, 0xC7, 0xC0, 0x10, secondByte, 0x40, 0x00]
            + [0x48, 0xC7, 0xC1, 0x40, secondByte, 0x40, 0x00]
            + [0x48, 0xC7, 0xC7, 0x36, 0x11, 0x40, 0x00] + Self.callByTable
        #expect(main(fixed, 0x40_1050) == .at(0x40_1136))
        let moved: [UInt8] =
            Self.olderHead + [0x4C, 0x8D, 0x05, 0x66, secondByte, 0x00, 0x00]
            + [0x48, 0x8D, 0x0D, 0xEF, secondByte, 0x00, 0x00]
            + [0x48, 0x8D, 0x3D, 0xC1, 0x00, 0x00, 0x00] + Self.callByTable
        #expect(main(moved, 0x1060) == .at(0x1060 + 36 + 0xC1))
    }

    /// musl goes on in C: the code finds either its call's argument, which is `main` too, or an
    /// address outside of the program.
    @Test func musl() {
        let moved: [UInt8] = [
            0x48, 0x31, 0xED, 0x48, 0x89, 0xE7, 0x48, 0x8D, 0x35, 0xC0, 0x2D, 0x00, 0x00, 0x48,
            0x83, 0xE4, 0xF0, 0xE8, 0x07, 0x00, 0x00, 0x00, 0x0F, 0x1F, 0x80, 0x00, 0x00, 0x00,
            0x00, 0x8B, 0x37, 0x48, 0x8D, 0x57, 0x08, 0x4C, 0x8D, 0x05, 0xDC, 0x00, 0x00, 0x00,
            0x45, 0x31, 0xC9, 0x48, 0x8D, 0x0D, 0x89, 0xFF, 0xFF, 0xFF, 0x48, 0x8D, 0x3D, 0xC2,
            0xFF, 0xFF, 0xFF, 0xE9, 0x9D, 0xFF, 0xFF, 0xFF,
        ]
        #expect(main(moved, 0x1043) == .at(0x1040))
        let fixed: [UInt8] = [
            0x48, 0x31, 0xED, 0x48, 0x89, 0xE7, 0x48, 0x8D, 0x35, 0xC0, 0xEF, 0xBF, 0xFF, 0x48,
            0x83, 0xE4, 0xF0, 0xE8, 0x07, 0x00, 0x00, 0x00, 0x0F, 0x1F, 0x80, 0x00, 0x00, 0x00,
        ]
        if case .at(let found) = main(fixed, 0x40_1033) {
            #expect(!(0x40_0000..<0x40_3000).contains(found))
        }
    }

    /// Go's `_rt0_amd64_linux` jumps on, without any argument.
    @Test func goHasNone() {
        let code: [UInt8] = [0xE9, 0x5B, 0xC4, 0xFF, 0xFF] + [UInt8](repeating: 0xCC, count: 91)
        #expect(main(code, 0x45_5E80) == nil)
    }

    @Test func nothingIsFoundBehindTheCall() {
        let code = Self.glibcHead + Self.callByTable + [0x48, 0x8D, 0x3D, 1, 0, 0, 0]
        #expect(main(code, 0) == nil)
        let direct = Self.glibcHead + Self.callDirect + [0x48, 0x8D, 0x3D, 1, 0, 0, 0]
        #expect(main(direct, 0) == nil)
    }

    @Test func codeThatEndsEarlyHasNone() {
        let code =
            Self.glibcHead + [0x48, 0x8D, 0x3D, 0xA5, 0xFE, 0xFF, 0xFF] + Self.callByTable
        for length in 0..<(Self.glibcHead.count + 7) {
            #expect(main(Array(code.prefix(length)), 0x1280) == nil)
        }
    }

    @Test func noiseIsNoTrap() {
        var random = SeededNumbers(seed: 7)
        for _ in 0..<1000 {
            let code = (0..<StartCode.length).map { _ in
                [0x48, 0x8D, 0x8B, 0x3D, 0xBF, 0xC7, 0xFF, 0x15, 0xE8, 0xF4, 0x00, 0x80]
                    .randomElement(using: &random) ?? 0 as UInt8
            }
            _ = main(code, .max - 3)
        }
    }

    // MARK: musl

    /// As its linker leaves crt1.c: the second function right behind the first.
    private static func musl(_ second: [UInt8]) -> [UInt8] {
        [
            0x48, 0x31, 0xED, 0x48, 0x89, 0xE7, 0x48, 0x8D, 0x35, 0x8C, 0x2D, 0, 0, 0x48, 0x83,
            0xE4, 0xF0, 0xE8, 3, 0, 0, 0, 0x0F, 0x1F, 0,
        ] + second
    }
    /// Up to the first argument.
    private static let muslMoved: [UInt8] = [
        0x8B, 0x37, 0x48, 0x8D, 0x57, 8, 0x4C, 0x8D, 5, 0xDC, 0, 0, 0, 0x45, 0x31, 0xC9, 0x48, 0x8D,
        0x0D, 0x59, 0xE8, 0xFF, 0xFF,
    ]
    private static let muslFixed: [UInt8] = [
        0x8B, 0x37, 0x48, 0x8D, 0x57, 8, 0x49, 0xC7, 0xC0, 0x8E, 0x22, 0x40, 0, 0x45, 0x31, 0xC9,
        0x48, 0xC7, 0xC1, 0, 0x10, 0x40, 0,
    ]

    @Test func muslsSecondFunction() throws {
        let moved = Self.musl(
            Self.muslMoved + [
                0x48, 0x8D, 0x3D, 0xB2, 0xFF, 0xFF, 0xFF, 0xE9, 0x7D, 0xFF, 0xFF, 0xFF,
            ])
        #expect(StartCode(moved, at: 0x1077).isMusl)
        #expect(main(moved, 0x1077) == .at(0x1060))
        let fixed = Self.musl(
            Self.muslFixed + [0x48, 0xC7, 0xC7, 0x40, 0x10, 0x40, 0, 0xE9, 0x9D, 3, 0, 0])
        #expect(main(fixed, 0x40_1057) == .at(0x40_1040))
        #expect(
            reference(fixed, 0x40_1057)
                == StartCode.Reference(address: 0x40_1057 + 51, isDistance: false))
        let byTable = Self.musl(
            Self.muslMoved + [0x48, 0x8B, 0x3D, 1, 0, 0, 0, 0xFF, 0x25, 0x10, 0, 0, 0])
        #expect(main(byTable, 0x1000) == .inSlot(0x1000 + 55 + 1))
        #expect(
            StartCode(byTable, at: 0x1000).startPointer(read: MadeImage.memory.read) == 0x1000 + 61
                + 0x10)
        #expect(!StartCode(Self.glibcHead + Self.leaMain + Self.callByTable, at: 0).isMusl)
    }

    /// Where it goes on elsewhere, or with nothing, main is not known.
    @Test func otherFunctionsAreNotMusls() {
        let load: [UInt8] = [0x48, 0x8D, 0x3D, 0xB2, 0xFF, 0xFF, 0xFF]
        let jump: [UInt8] = [0xE9, 0x7D, 0xFF, 0xFF, 0xFF]
        #expect(main(Self.musl(Self.muslMoved + load), 0x1077) == nil)
        #expect(main(Self.musl(Self.muslMoved + jump), 0x1077) == nil)
        for distance in [0x60, 0x7FFF_FFFF, -40, .min] as [Int32] {
            var far = Self.musl(Self.muslMoved + load + jump)
            far.replaceSubrange(18..<22, with: bytes(of: distance))
            #expect(main(far, 0x1077) == nil)
        }
        let whole = Self.musl(Self.muslMoved + load + jump)
        for count in 0..<whole.count {
            #expect(main(Array(whole.prefix(count)), .max - 40) == nil)
        }
    }

    // MARK: Where the code names main

    private static let leaMain: [UInt8] = [0x48, 0x8D, 0x3D, 0xA5, 0xFE, 0xFF, 0xFF]

    private func reference(_ code: [UInt8], _ entry: UInt64) -> StartCode.Reference? {
        guard case .at(_, let reference) = StartCode(code, at: entry).main else { return nil }
        return reference
    }

    @Test func references() {
        let moved = Self.glibcHead + Self.leaMain + Self.callByTable
        #expect(
            reference(moved, 0x1280)
                == StartCode.Reference(address: 0x1280 + 20 + 3, isDistance: true))
        let fixed = Self.glibcHead + [0x48, 0xC7, 0xC7, 0x30, 0x11, 0x40, 0x00] + Self.callByTable
        #expect(
            reference(fixed, 0x40_1000)
                == StartCode.Reference(address: 0x40_1000 + 20 + 3, isDistance: false))
        let short = Self.glibcHead + [0xBF, 0x30, 0x11, 0x40, 0x00] + Self.callByTable
        #expect(
            reference(short, 0x40_1000)
                == StartCode.Reference(address: 0x40_1000 + 20 + 1, isDistance: false))
        let slot = Self.glibcHead + [0x48, 0x8B, 0x3D, 1, 0, 0, 0] + Self.callByTable
        #expect(reference(slot, 0x1000) == nil)
    }

    /// With another address written into it, the code is read as leading there.
    @Test func aReferencesWordLeadsElsewhere() throws {
        let entry: UInt64 = 0x5555_0000_1280
        let code = Self.glibcHead + Self.leaMain + Self.callByTable
        let reference = try #require(self.reference(code, entry))
        let place = Int(reference.address - entry)
        let word = try #require(code.littleEndianWord(at: place))
        for target in [
            entry, entry + 0x7000_0000, entry - 0x7000_0000, reference.address + 4,
        ] {
            let patched = try #require(reference.word(leadingTo: target, in: word))
            #expect(patched >> 32 == word >> 32)
            var changed = code
            changed.replaceSubrange(place..<(place + 8), with: bytes(of: patched))
            #expect(main(changed, entry) == .at(target))
            #expect(StartCode(changed, at: entry).startPointer(read: MadeImage.memory.read) != nil)
        }
        // At the reach's ends, and behind them.
        let end = reference.address + 4
        #expect(reference.word(leadingTo: end + 0x7FFF_FFFF, in: 0) == 0x7FFF_FFFF)
        #expect(reference.word(leadingTo: end - 0x8000_0000, in: 0) == 0x8000_0000)
        #expect(reference.word(leadingTo: end + 0x8000_0000, in: 0) == nil)
        #expect(reference.word(leadingTo: end - 0x8000_0001, in: 0) == nil)
        #expect(reference.word(leadingTo: end &+ 1 << 63, in: 0) == nil)
    }

    @Test func anAddressInFourBytes() {
        let reference = StartCode.Reference(address: 0x40_1003, isDistance: false)
        #expect(
            reference.word(leadingTo: 0x1234_5678, in: 0xAAAA_BBBB_CCCC_DDDD)
                == 0xAAAA_BBBB_1234_5678)
        #expect(reference.word(leadingTo: 0x7FFF_FFFF, in: 0) == 0x7FFF_FFFF)
        for target in [0x8000_0000, 0x1_0000_0000, 0x7F00_0000_0000] as [UInt64] {
            #expect(reference.word(leadingTo: target, in: 0) == nil)
        }
        for address in [0, .max - 3, .max] as [UInt64] {
            let far = StartCode.Reference(address: address, isDistance: true)
            for target in [0, 1, 1 << 63, .max] as [UInt64] {
                _ = far.word(leadingTo: target, in: .max)
            }
        }
    }

    // MARK: Where the program finds the C library's start function

    @Test func aSlotThatIsCalledThrough() {
        let code = Self.glibcHead + Self.leaMain + Self.callByTable
        #expect(
            StartCode(code, at: 0x1280).startPointer(read: MadeImage.memory.read) == 0x1280 + 33
                + 0x2D67)
        // A distance below zero, at the address space's beginning: it wraps, and does not trap.
        let back = Self.glibcHead + Self.leaMain + [0xFF, 0x15, 0, 0, 0, 0x80, 0xF4]
        #expect(
            StartCode(back, at: 0).startPointer(read: MadeImage.memory.read)
                == UInt64(33) &- 0x8000_0000)
        // An instruction that returns is no call of the start function.
        let other = Self.glibcHead + Self.leaMain + [0xFF, 0x15, 1, 0, 0, 0, 0x90]
        #expect(StartCode(other, at: 0).startPointer(read: MadeImage.memory.read) == nil)
        #expect(StartCode([], at: 0).startPointer(read: MadeImage.memory.read) == nil)
    }

    private static let jump: [UInt8] = [0xFF, 0x25, 0x10, 0x20, 0x00, 0x00]
    private static let mark: [UInt8] = [0xF3, 0x0F, 0x1E, 0xFA]

    /// Entry code right before a stub, which it calls.
    private static func startPointer(through stub: [UInt8]) -> (found: UInt64?, stub: UInt64) {
        let call: [UInt8] = [0xE8, 1, 0, 0, 0, 0xF4]
        let code = glibcHead + leaMain + call
        let memory = MadeMemory(code + stub + [UInt8](repeating: 0xCC, count: 16))
        return withExtendedLifetime(memory) {
            let start = StartCode(code, at: memory.address)
            return (
                start.startPointer(read: MadeImage.memory.read), memory.address + UInt64(code.count)
            )
        }
    }

    @Test(
        arguments: [
            ([], 6), ([0xF2], 7), (mark, 10), (mark + [0xF2], 11),
        ] as [([UInt8], UInt64)])
    func stubs(prefix: [UInt8], end: UInt64) {
        let (found, stub) = Self.startPointer(through: prefix + Self.jump)
        #expect(found == stub + end + 0x2010)
        let back = Self.startPointer(through: prefix + [0xFF, 0x25, 0xF0, 0xFF, 0xFF, 0xFF])
        #expect(back.found == back.stub + end - 0x10)
    }

    /// A static program calls the function itself.
    @Test(
        arguments: [
            [0x55], [0xF3, 0x0F, 0x1E, 0xFA, 0x41, 0x57], [0xFF, 0x15, 0, 0, 0, 0],
            [0xE9, 0, 0, 0, 0],
            [0xF2, 0xF2, 0xFF, 0x25, 0, 0, 0, 0], [0xF3, 0x0F, 0x1E, 0xFB, 0xFF, 0x25, 0, 0, 0, 0],
        ] as [[UInt8]])
    func callsWithoutAStub(code: [UInt8]) {
        #expect(Self.startPointer(through: code).found == nil)
    }

    @Test func aStubThatCannotBeRead() throws {
        let code = Self.glibcHead + Self.leaMain + [0xE8, 0, 0, 0, 0, 0xF4]
        for entry in [0, 0x1000, .max - 16] as [UInt64] {
            #expect(StartCode(code, at: entry).startPointer(read: MadeImage.memory.read) == nil)
        }
        // One that ends with the mapping, at any of its bytes.
        let page = try #require(
            mmap(nil, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        try #require(page != MAP_FAILED)
        defer { munmap(page, 8192) }
        mprotect(page + 4096, 4096, PROT_NONE)
        let stub = Self.mark + [0xF2] + Self.jump
        for length in 0...stub.count {
            let place = page + 4096 - length
            place.copyMemory(from: stub, byteCount: length)
            let address = UInt64(UInt(bitPattern: place))
            let start = StartCode(code, at: address &- UInt64(code.count - 1))
            #expect(
                (start.startPointer(read: MadeImage.memory.read) != nil) == (length == stub.count))
        }
    }

    @Test func noiseHasSomeSlotOrNone() {
        var random = SeededNumbers(seed: 8)
        for _ in 0..<2000 {
            let code = (0..<StartCode.length).map { _ in
                [0x48, 0x8D, 0x3D, 0xBF, 0xC7, 0xFF, 0x15, 0x25, 0xE8, 0xF4, 0x00, 0x80]
                    .randomElement(using: &random) ?? 0 as UInt8
            }
            let memory = MadeMemory(code)
            withExtendedLifetime(memory) {
                for entry: UInt64 in [memory.address, 0, .max - 3] {
                    _ = StartCode(code, at: entry).startPointer(read: MadeImage.memory.read)
                }
            }
        }
    }
}

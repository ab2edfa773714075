import TestSupport
import Testing

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

    /// What it finds, without where the code names it.
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

    /// lld and others go by the offset table.
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

    /// musl goes on in C: either its call's argument is found, which is `main` too, or what is
    /// found lies outside of the program.
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
}

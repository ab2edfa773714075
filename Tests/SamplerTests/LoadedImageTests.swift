import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import Images
@testable import ProcessIO
@testable import Sampler

/// Our own process is one like any other.
@Suite struct LoadedImageTests {
    private static let memory = TargetMemory(pid: getpid())
    private static let linkerBase = auxiliaryValue(7)

    private static func symbol(_ name: String) -> UInt64? {
        dlsym(nil, name).map { UInt64(UInt(bitPattern: $0)) }
    }

    @Test func symbolsOfTheDynamicLinker() throws {
        let linker = try #require(LoadedImage(base: Self.linkerBase, memory: Self.memory))
        let hook = try #require(linker.address(ofSymbol: "_dl_debug_state"))
        #expect(hook == Self.symbol("_dl_debug_state"))
        #expect(linker.isExecutable(hook))
        let debug = try #require(linker.address(ofSymbol: "_r_debug"))
        #expect(debug == Self.symbol("_r_debug"))
        #expect(!linker.isExecutable(debug))
        // r_version, and r_state: nothing is being loaded.
        #expect((1...2).contains(Self.memory.int32(at: debug) ?? 0))
        // r_brk is what the debugger's hook is.
        #expect(Self.memory.word(at: debug + 16) == hook)
    }

    @Test(arguments: ["_dl_debug_stat", "_dl_debug_state_", "", "dl_debug_state", "no_such"])
    func otherNamesAreNotFound(name: String) throws {
        let linker = try #require(LoadedImage(base: Self.linkerBase, memory: Self.memory))
        let found: UInt64? =
            switch name {
            case "_dl_debug_stat": linker.address(ofSymbol: "_dl_debug_stat")
            case "_dl_debug_state_": linker.address(ofSymbol: "_dl_debug_state_")
            case "": linker.address(ofSymbol: "")
            case "dl_debug_state": linker.address(ofSymbol: "dl_debug_state")
            default: linker.address(ofSymbol: "no_such")
            }
        #expect(found == nil)
    }

    @Test func theProgramItself() throws {
        let program = try #require(
            LoadedImage(
                programHeaders: auxiliaryValue(3), count: auxiliaryValue(5),
                memory: Self.memory))
        #expect(program.isExecutable(auxiliaryValue(9)))
        #expect(!program.isExecutable(Self.linkerBase))
        #expect(!program.isExecutable(0))
        #expect(!program.isExecutable(.max))
    }

    @Test func dynamicLinkersAreRecognised() throws {
        let linker = try #require(LoadedImage(base: Self.linkerBase, memory: Self.memory))
        #expect(linker.isDynamicLinker)
        let program = try #require(
            LoadedImage(
                programHeaders: auxiliaryValue(3), count: auxiliaryValue(5),
                memory: Self.memory))
        #expect(!program.isDynamicLinker)
    }

    @Test func invalidImagesAreRefused() {
        #expect(LoadedImage(base: 0, memory: Self.memory) == nil)
        #expect(LoadedImage(base: Self.linkerBase + 8, memory: Self.memory) == nil)
        #expect(LoadedImage(base: .max - 8, memory: Self.memory) == nil)
        for count: UInt64 in [0, 513, .max] {
            let image = LoadedImage(
                programHeaders: Self.linkerBase + 64, count: count, memory: Self.memory)
            #expect(image == nil)
        }
        #expect(LoadedImage(programHeaders: .max - 63, count: 3, memory: Self.memory) == nil)
    }

    /// The linker's own start, with some bytes changed: any answer, no trap.
    @Test func damagedHeaders() {
        var random = SeededNumbers(seed: 11)
        let pristine = Self.memory.read(at: Self.linkerBase, count: 4096)
        #expect(pristine.count == 4096)
        for _ in 0..<400 {
            var bytes = pristine
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                // The ELF header's addresses and counts, or the program headers.
                let index = Int.random(in: 24..<720, using: &random)
                bytes[index] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
            }
            bytes.withUnsafeBytes { raw in
                let base = UInt64(UInt(bitPattern: raw.baseAddress))
                let image = LoadedImage(base: base, memory: Self.memory)
                _ = image?.address(ofSymbol: "_dl_debug_state")
                _ = image?.isExecutable(base)
            }
        }
    }

    @Test func memoryEndsWhereItEnds() {
        let page = mmap(nil, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let page, page != MAP_FAILED else {
            Issue.record("no memory")
            return
        }
        defer { munmap(page, 8192) }
        mprotect(page + 4096, 4096, PROT_NONE)
        page.storeBytes(of: 0x1122_3344_5566_7788, toByteOffset: 4088, as: UInt64.self)
        let start = UInt64(UInt(bitPattern: page))
        #expect(Self.memory.read(at: start + 4000, count: 500).count == 96)
        #expect(Self.memory.read(at: start + 4096, count: 8).isEmpty)
        #expect(Self.memory.read(at: start, count: 0).isEmpty)
        #expect(Self.memory.read(at: start, count: -5).isEmpty)
        #expect(Self.memory.word(at: start + 4088) == 0x1122_3344_5566_7788)
        #expect(Self.memory.word(at: start + 4090) == nil)
        #expect(Self.memory.int32(at: start + 4092) == 0x1122_3344)
        #expect(Self.memory.int32(at: start + 4094) == nil)
        #expect(Self.memory.word(at: .max) == nil)
    }

    @Test func wordsInArrays() {
        let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 0x88, 9]
        #expect(bytes.littleEndianWord(at: 0) == 0x8807_0605_0403_0201)
        #expect(bytes.littleEndianWord(at: 1) == 0x0988_0706_0504_0302)
        #expect(bytes.littleEndianInt32(at: 4) == Int32(bitPattern: 0x8807_0605))
        #expect(bytes.littleEndianUInt16(at: 7) == 0x0988)
        for offset in [-1, 2, 9, Int.max, Int.min] {
            #expect(bytes.littleEndianWord(at: offset) == nil)
        }
        #expect(([] as [UInt8]).littleEndianUInt16(at: 0) == nil)
    }
}

import Glibc
import TestSupport
import Testing

@testable import Agent
@testable import Images
@testable import ProcessIO
@testable import Sampler

@Suite struct SignpostLocatorTests {
    private static func word(_ value: UInt32) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    private static func note(
        _ owner: String = "Firstlight\0", kind: UInt32 = 1, content: [UInt8]
    ) -> [UInt8] {
        var name = Array(owner.utf8)
        let nameSize = UInt32(name.count)
        while name.count % 4 != 0 { name.append(0) }
        var bytes = word(nameSize) + word(UInt32(content.count)) + word(kind) + name + content
        while bytes.count % 4 != 0 { bytes.append(0) }
        return bytes
    }

    private static func distance(_ value: Int64) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    @Test func notesAmongOthers() {
        let other = Self.note("GNU\0", kind: 3, content: [1, 2, 3, 4, 5])
        let first = Self.note(content: Self.distance(0x1000))
        let second = Self.note(content: Self.distance(-8))
        let bytes = other + first + other + second + other
        let start: UInt64 = 0x40_0000
        let firstContent = start + UInt64(other.count + first.count - 8)
        let secondContent = start + UInt64(2 * other.count + first.count + second.count - 8)
        #expect(
            SignpostLocator.states(notes: bytes, at: start)
                == [firstContent + 0x1000, secondContent - 8])
    }

    @Test func notesThatAreNotOurs() {
        let content = Self.distance(16)
        for note in [
            Self.note("firstlight\0", content: content), Self.note("Firstligh\0", content: content),
            Self.note("Firstlight", content: content), Self.note(kind: 2, content: content),
            Self.note(content: [1, 2, 3, 4]), Self.note(content: []), [], [1, 2, 3],
        ] {
            #expect(SignpostLocator.states(notes: note, at: 0).isEmpty)
        }
    }

    /// Cut and damaged notes: any answer, no trap, an end.
    @Test func damagedNotes() {
        var random = SeededNumbers(seed: 5)
        let whole = (0..<4).flatMap { Self.note(content: Self.distance(Int64($0))) }
        for end in 0...whole.count {
            _ = SignpostLocator.states(notes: Array(whole[..<end]), at: .max - 20)
        }
        for _ in 0..<3000 {
            let bytes = random.mutated(whole)
            #expect(SignpostLocator.states(notes: bytes, at: random.next()).count <= 8)
        }
    }

    private static let memory = TargetMemory(pid: getpid())

    /// This test program uses the library: one state, however many files include the header.
    @Test func ourOwnState() throws {
        let image = try #require(OwnSignposts.image)
        let states = SignpostLocator(image).states()
        #expect(states == [OwnSignposts.address])
    }

    @Test func theDynamicLinkerHasNone() throws {
        let linker = try #require(LoadedImage(base: auxiliaryValue(7), memory: Self.memory))
        #expect(SignpostLocator(linker).states().isEmpty)
    }

    /// A made-up image whose notes point to where no state can be.
    @Test func statesMustBeWritableAndOurs() throws {
        let size = 8192
        let page = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        let base = try #require(page)
        try #require(page != MAP_FAILED)
        defer { munmap(base, size) }
        let start = UInt64(UInt(bitPattern: base))
        func states(flags: UInt32, distance: Int64, version: UInt32) -> [UInt64] {
            let note = Self.note(content: Self.distance(distance))
            let headers =
                Self.header(kind: 4, flags: 4, offset: 0x200, size: UInt64(note.count))
                + Self.header(kind: 1, flags: flags, offset: 0, size: UInt64(size))
            (base + 64).copyMemory(from: headers, byteCount: headers.count)
            (base + 0x200).copyMemory(from: note, byteCount: note.count)
            base.storeBytes(of: version, toByteOffset: 0x1004, as: UInt32.self)
            let elf: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1]
            base.copyMemory(from: elf, byteCount: elf.count)
            guard
                let image = LoadedImage(
                    programHeaders: start + 64, count: 2, memory: Self.memory)
            else { return [] }
            return SignpostLocator(image).states()
        }
        let there = Int64(0x1000 - 0x200 - 24)
        #expect(states(flags: 6, distance: there, version: 1) == [start + 0x1000])
        #expect(states(flags: 4, distance: there, version: 1).isEmpty)
        #expect(states(flags: 6, distance: there, version: 2).isEmpty)
        #expect(states(flags: 6, distance: there + 4, version: 1).isEmpty)
        #expect(states(flags: 6, distance: Int64(size), version: 1).isEmpty)
        #expect(states(flags: 6, distance: -0x1000, version: 1).isEmpty)
        #expect(states(flags: 6, distance: there + 0x1000 - 16, version: 1).isEmpty)
        #expect(states(flags: 6, distance: .min, version: 1).isEmpty)
    }

    private static func header(
        kind: UInt32, flags: UInt32, offset: UInt64, size: UInt64
    ) -> [UInt8] {
        let words = [offset, offset, offset, size, size, 8].flatMap { value in
            withUnsafeBytes(of: value.littleEndian) { Array($0) }
        }
        return word(kind) + word(flags) + words
    }

    @Test func theSwitchIsThrownLast() {
        let writes = SignpostSwitch(state: 0x1000).on(ring: 0x1122_3344_5566_7788)
        #expect(
            writes == [
                MemoryWrite(address: 0x1000, bytes: [0]),
                MemoryWrite(
                    address: 0x1008, bytes: [0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]),
                MemoryWrite(address: 0x1000, bytes: [1]),
            ])
        #expect(
            SignpostSwitch(state: 0x1000).off == MemoryWrite(address: 0x1000, bytes: [0]))
    }
}

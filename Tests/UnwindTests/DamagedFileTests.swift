import Architecture
import ELF
import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import Unwind

/// Damaged and hostile ELF files: any answer is right, as long as there is one. In processes of
/// their own, because the code that could crash is C.
@Suite struct DamagedFileTests {
    /// Asks everything that is ever asked of a file.
    private static func examine(_ path: String, _ random: inout SeededNumbers) {
        guard let file = try? ELFFile(path: path, access: .read) else { return }
        _ = file.buildID
        _ = file.bias(mappedAt: 0x10_0000, fileOffset: 0x2000)
        _ = file.bytes(at: 0x2000, count: 64)
        file.forEachFunction { _, _ in }
        let tables = FrameTables(file)
        let words = (0..<64).map { _ in random.next() & 0xFFFF }
        var registers = Registers(programCounter: 0x2000, stackPointer: 0x1000)
        for number in 0..<6 { registers[number] = 0x1000 + UInt64(8 * number) }
        let memory = StackMemory(
            Snapshot(registers: registers, stack: StackCopy(start: 0x1000, words: words)))
        for _ in 0..<60 {
            let address = UInt64.random(in: 0..<0x9000, using: &random)
            _ = tables.rule(at: address)
            _ = tables.step(at: address, registers: registers, memory: memory)
            _ = tables.isBehindCall(address)
        }
        for address in [0, .max, 1 << 63] as [UInt64] { _ = tables.rule(at: address) }
    }

    private static func examineMutations(
        seed: UInt64, count: Int, of bytes: [UInt8], in places: [Range<Int>]
    ) throws {
        let scratch = try Scratch()
        var random = SeededNumbers(seed: seed)
        for _ in 0..<count {
            var mutated = bytes
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                let place = places.randomElement(using: &random) ?? 0..<bytes.count
                let index = Int.random(in: place, using: &random)
                mutated[index] =
                    Bool.random(using: &random)
                    ? UInt8.random(in: 0...255, using: &random)
                    : [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
            }
            try Self.examine(scratch.write(mutated, to: "damaged"), &random)
        }
    }

    @Test func anywhere() async {
        await #expect(processExitsWith: .success) {
            let bytes = readBytes("/bin/true")
            try Self.examineMutations(seed: 41, count: 100, of: bytes, in: [0..<bytes.count])
        }
    }

    /// The headers: of the file, its segments and its sections.
    @Test func headers() async {
        await #expect(processExitsWith: .success) {
            let bytes = readBytes("/bin/true")
            let places = [0..<1024, (bytes.count - 2000)..<bytes.count]
            try Self.examineMutations(seed: 43, count: 100, of: bytes, in: places)
        }
    }

    /// The unwind tables themselves: where they lie in the file of the hand-written code.
    @Test func tables() async {
        await #expect(processExitsWith: .success) {
            let bytes = try Assembly.library.get().bytes
            let scratch = try Scratch()
            let path = try scratch.write(bytes, to: "rules.so")
            let line = try scratch.printed(by: ["readelf", "-SW", path])
                .first { $0.contains(" .eh_frame ") }
            let words = (line ?? "").split(separator: " ")
            let name = words.firstIndex(of: ".eh_frame") ?? 0
            let offset = Int(words[name + 3], radix: 16) ?? 0
            let size = Int(words[name + 4], radix: 16) ?? 0
            try #require(size > 100)
            try Self.examineMutations(
                seed: 47, count: 200, of: bytes, in: [offset..<(offset + size)])
        }
    }

    @Test func everyTruncation() async {
        await #expect(processExitsWith: .success) {
            let scratch = try Scratch()
            let bytes = readBytes("/bin/true")
            var random = SeededNumbers(seed: 53)
            let lengths = Array(0..<70) + (0..<60).map { bytes.count * $0 / 60 }
            for length in lengths {
                try Self.examine(scratch.write(Array(bytes.prefix(length)), to: "cut"), &random)
            }
        }
    }

    /// A program that is rebuilt in place while it is recorded: its mapped tables go away.
    @Test func aFileThatIsCutShortAfterItWasOpened() async {
        await #expect(processExitsWith: .success) {
            let scratch = try Scratch()
            let path = try scratch.write(readBytes("/bin/true"), to: "program")
            let file = try ELFFile(path: path, access: .read)
            truncate(path, 0)
            let tables = FrameTables(file)
            for address in stride(from: 0 as UInt64, to: 0x9000, by: 64) {
                _ = tables.rule(at: address)
            }
            _ = file.buildID
        }
    }

    /// A path that now names a pipe must not keep the recorder waiting for its writer.
    @Test func aPipeIsNotWaitedFor() async {
        await #expect(processExitsWith: .success) {
            let scratch = try Scratch()
            let path = scratch.path("pipe")
            mkfifo(path, 0o600)
            // The kernel ends the test if it waits.
            alarm(5)
            #expect(throws: ELFFileError.notUsable) {
                try ELFFile(path: path, access: .read)
            }
        }
    }
}

import TestSupport
import Testing

@testable import Symbolicate

@Suite struct ProbeNoteTests {
    private func bytes<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    private func note(
        owner: String = "stapsdt\0", type: UInt32 = 3, _ content: [UInt8], size: UInt32? = nil
    ) -> [UInt8] {
        let name = Array(owner.utf8)
        let padding = [UInt8](repeating: 0, count: (4 - content.count % 4) % 4)
        return bytes(UInt32(name.count)) + bytes(size ?? UInt32(content.count)) + bytes(type)
            + name + content + padding
    }

    private func content(
        _ address: UInt64, base: UInt64 = 0x100, semaphore: UInt64 = 0, _ texts: String
    ) -> [UInt8] {
        bytes(address) + bytes(base) + bytes(semaphore) + Array(texts.utf8)
    }

    private func sites(_ notes: [UInt8], base: UInt64? = nil) -> [ProbeSite] {
        notes.withUnsafeBytes { ProbeNotes.sites(in: $0, base: base) }
    }

    @Test func sitesAndTheirShift() {
        let notes =
            note(content(0x1000, "libc\0setjmp\08@%rdi\0"))
            + note(owner: "GNU\0\0\0\0\0", [1, 2, 3])
            + note(content(0x2000, semaphore: 0x3000, "ruby\0gc__begin\0\0"))
        let plain = sites(notes)
        #expect(
            plain == [
                ProbeSite(provider: "libc", name: "setjmp", address: 0x1000, semaphore: nil),
                ProbeSite(provider: "ruby", name: "gc__begin", address: 0x2000, semaphore: 0x3000),
            ])
        let moved = sites(notes, base: 0x180)
        #expect(moved.map(\.address) == [0x1080, 0x2080])
        #expect(moved.map(\.semaphore) == [nil, 0x3080])
    }

    @Test func hostileNotes() {
        let good = content(0x1000, "a\0b\0\0")
        #expect(sites(note(type: 4, good)).isEmpty)
        #expect(sites(note(owner: "stapsdtX", good)).isEmpty)
        #expect(sites(note(content(1, "no end"))).isEmpty)
        #expect(sites(note(content(1, "a\0no end"))).isEmpty)
        #expect(sites(note([1, 2, 3])).isEmpty)
        #expect(sites(note(content(1, String(repeating: "x", count: 300) + "\0y\0\0"))).isEmpty)
        // Sizes that lead out of the section.
        #expect(sites(note(good, size: .max)).isEmpty)
        #expect(sites(bytes(UInt32.max) + bytes(UInt32.max) + bytes(UInt32(3))).isEmpty)
        let whole = note(good) + note(good)
        for end in 0...whole.count {
            #expect(sites(Array(whole[..<end])).count <= (end + 4) * 2 / whole.count)
        }
        var numbers = SeededNumbers(seed: 3)
        for _ in 0..<2000 {
            var damaged = whole
            for _ in 0..<3 {
                damaged[Int.random(in: damaged.indices, using: &numbers)] =
                    UInt8.random(in: 0...255, using: &numbers)
            }
            #expect(sites(damaged, base: .max).count <= 2)
        }
    }
}

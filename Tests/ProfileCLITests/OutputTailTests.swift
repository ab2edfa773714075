import Glibc
import Testing

@testable import ProfileCLI

/// The part that is kept of the output of a program that `measure` launches.
@Suite struct OutputTailTests {
    private struct NoMemory: Error {}

    private func write(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        #expect(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }

    @Test func theEndOfTheOutput() throws {
        guard let tail = OutputTail() else { throw NoMemory() }
        #expect(tail.take() == "")
        // Output and error, as two descriptors of one file.
        let other = dup(tail.descriptor)
        defer { close(other) }
        write("one\n", to: tail.descriptor)
        write("two\n", to: other)
        #expect(tail.take() == "one\ntwo\n")
        #expect(tail.take() == "")
        write("again", to: other)
        #expect(tail.take() == "again")
    }

    @Test func longOutput() throws {
        guard let tail = OutputTail() else { throw NoMemory() }
        // Two bytes each: the cut may fall into one.
        write("x" + String(repeating: "é", count: 5_000), to: tail.descriptor)
        let text = tail.take()
        #expect(text.utf8.count <= OutputTail.length && text.utf8.count > OutputTail.length - 4)
        #expect(text.allSatisfy { $0 == "é" })
        write("xy" + String(repeating: "é", count: 5_000), to: tail.descriptor)
        #expect(tail.take().allSatisfy { $0 == "é" })
    }

    @Test func notUTF8() throws {
        guard let tail = OutputTail() else { throw NoMemory() }
        let bytes: [UInt8] = [0x80, 0xFF, 0x41]
        #expect(Glibc.write(tail.descriptor, bytes, 3) == 3)
        #expect(tail.take() == "\u{FFFD}\u{FFFD}A")
    }
}

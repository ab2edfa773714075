import Glibc
import Testing

@testable import ProcessIO
@testable import Sampler

@Suite struct KeptFileTests {
    private func read(_ file: borrowing KeptFile, _ buffer: inout ReadBuffer) -> [UInt8] {
        file.read(into: &buffer)
        return buffer.contents
    }

    /// Where there is no descriptor to spare, it is opened for each read.
    @Test(arguments: [true, false]) func aFileIsRead(isKept: Bool) {
        var buffer = ReadBuffer()
        let file = KeptFile("/proc/self/comm", isKept: isKept)
        let first = read(file, &buffer)
        #expect(first.last == UInt8(ascii: "\n"))
        #expect(read(file, &buffer) == first)
    }

    /// A `status` is long if the user is in hundreds of groups.
    @Test func aLongFileIsReadToItsEnd() throws {
        let path = "/tmp/firstlight-kept-\(getpid())"
        let bytes = (0..<10_000).map { UInt8($0 % 251) }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        defer { unlink(path) }
        #expect(write(descriptor, bytes, bytes.count) == bytes.count)
        close(descriptor)
        var buffer = ReadBuffer()
        for isKept in [true, false] {
            #expect(read(KeptFile(path, isKept: isKept), &buffer) == bytes)
        }
    }

    /// The text of another thread would be taken for its own.
    @Test func aFileThatIsNotThereIsEmpty() {
        var buffer = ReadBuffer()
        #expect(!read(KeptFile("/proc/self/comm"), &buffer).isEmpty)
        #expect(read(KeptFile("/proc/self/nothing"), &buffer).isEmpty)
    }

    @Test func aThreadThatIsGoneTellsNothing() {
        let process = KernelProcess(pid: getpid())
        #expect(process.thread(getpid()).counters() != nil)
        let gone = process.thread(.max)
        #expect(gone.counters() == nil)
        #expect(process.thread(getpid()).activity() != nil)
        #expect(gone.activity() == nil)
        #expect(process.thread(getpid()).status() != nil)
        #expect(gone.status() == nil)
        #expect(process.thread(getpid()).name() != nil)
        #expect(gone.name() == nil)
    }
}

@Suite struct ByteSearchTests {
    @Test(arguments: [
        ("", "", true), ("", "a", false), ("abc", "", true), ("abc", "abc", true),
        ("abc", "abcd", false), ("abc", "c", true), ("abab", "aba", true), ("aab", "ab", true),
        ("\0__lsan_init\0", "__lsan_", true), ("\0__asan_init\0", "__lsan_", false),
    ])
    func sequences(text: String, wanted: String, isThere: Bool) {
        #expect(Array(text.utf8).hasSequence(wanted.utf8) == isThere)
    }
}

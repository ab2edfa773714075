import CSystem
import Glibc
import ProfileModel
import Testing

@testable import ProfileCLI

/// What stands between `measure` and a program that it launches.
@Suite struct LaunchAidTests {
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

    private func spawn(_ script: String) throws -> pid_t {
        var pid: pid_t = 0
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words = ["/bin/sh", "-c", script].map { (word: String) in strdup(word) } + [nil]
        defer { for word in words { free(word) } }
        let problem = posix_spawn(&pid, "/bin/sh", nil, &attributes, &words, environ)
        try #require(problem == 0)
        return pid
    }

    @Test func aProgramIsStopped() throws {
        let pid = try spawn("exec sleep 1000")
        ProgramEnd(pid: pid).stop()
        #expect(kill(pid, 0) != 0 && errno == ESRCH)
    }

    @Test func aProgramThatEndsByItself() throws {
        let pid = try spawn("exit 3")
        ProgramEnd(pid: pid).await()
        #expect(kill(pid, 0) != 0 && errno == ESRCH)
        // Nobody is there any more.
        ProgramEnd(pid: pid).stop()
    }
}

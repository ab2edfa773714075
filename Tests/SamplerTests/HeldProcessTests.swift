import CSystem
import Glibc
import Testing

@testable import Sampler

/// Children that wait to become a program.
@Suite struct HeldProcessTests {
    /// - Returns: what it wrote.
    private func spawn(_ go: (Int32) -> Void) throws -> (output: Int, status: Int32) {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let words = ["/bin/echo", "here"]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        var variables: [UnsafeMutablePointer<CChar>?] = [nil]
        defer { for word in arguments { free(word) } }
        var (release, failure): (Int32, Int32) = (-1, -1)
        var mask = sigset_t()
        sigemptyset(&mask)
        let pid = fl_spawn_held(
            "/bin/echo", arguments, &variables, [ends[1], -1], &mask, 0, -1, -1, &release,
            &failure)
        close(ends[1])
        try #require(pid > 0)
        go(release)
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = read(ends[0], &buffer, buffer.count)
        close(failure)
        var status: Int32 = 0
        _ = fl_wait(pid, 0, &status)
        return (count, status)
    }

    @Test func aWordLetsItGo() throws {
        let (output, status) = try spawn { fl_release_held($0) }
        #expect(output == 5 && status == 0)
    }

    /// The recorder has died: the program would run, and nobody would record it.
    @Test func withoutAWordItEnds() throws {
        let (output, status) = try spawn { close($0) }
        #expect(output == 0 && status == 127 << 8)
    }
}

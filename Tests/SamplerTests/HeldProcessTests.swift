import CSystem
import Glibc
import TestSupport
import Testing

@testable import Launching
@testable import Sampler

/// Children that wait to become a program.
@Suite struct HeldProcessTests {
    /// Other tests use the common one.
    private let starter: StarterThread

    init() throws { starter = try #require(StarterThread()) }

    /// - Parameter sharing: whether it shares our memory until it executes its program.
    /// - Returns: how much it wrote.
    private func spawn(
        _ path: String = "/bin/echo", sharing: Bool, _ go: (Int32) -> Void
    ) throws -> (output: Int, status: Int32, failure: Int32?) {
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
        var error: Int32 = 0
        let start = try #require(
            fl_make_start(
                path, arguments, &variables, [ends[1], -1], &mask, 0, -1, -1, &error))
        // A child that shares our memory may use it until then.
        defer { if starter.perform({}) { fl_free_start(start) } }
        nonisolated(unsafe) let shared = start
        if sharing {
            #expect(starter.perform { fl_share_held(shared, nil) })
        }
        let pid =
            sharing
            ? fl_await_held(start, nil, &release, &failure)
            : fl_fork_held(start, nil, &release, &failure)
        close(ends[1])
        try #require(pid > 0)
        go(release)
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = read(ends[0], &buffer, buffer.count)
        var code: Int32 = 0
        let hasFailed = fl_read_int(failure, &code) == 1
        close(failure)
        var status: Int32 = 0
        _ = fl_wait(pid, 0, &status)
        return (count, status, hasFailed ? code : nil)
    }

    @Test(arguments: [false, true]) func aWordLetsItGo(sharing: Bool) throws {
        let (output, status, failure) = try spawn(sharing: sharing) { fl_release_held($0) }
        #expect(output == 5 && status == 0 && failure == nil)
    }

    /// The recorder has died: the program would run without being recorded.
    @Test(arguments: [false, true]) func withoutAWordItEnds(sharing: Bool) throws {
        let (output, status, _) = try spawn(sharing: sharing) { close($0) }
        #expect(output == 0 && status == 127 << 8)
    }

    @Test(arguments: [false, true]) func aProgramThatIsNotThere(sharing: Bool) throws {
        let (_, status, failure) = try spawn("/nothing/here", sharing: sharing) {
            fl_release_held($0)
        }
        #expect(status == 127 << 8 && failure == ENOENT)
    }

    /// A file without `#!` is the shell's.
    @Test(arguments: [false, true]) func aScriptWithoutAnInterpreter(sharing: Bool) throws {
        // Another process writes it: a child that another test forks while we had it open for
        // writing would keep it open, and the file could not be executed until that child has
        // executed its program.
        let scratch = try Scratch()
        let path = scratch.path("script")
        let writer = try Child(
            ["/bin/sh", "-c", "echo 'echo script $1' >\"$0\" && chmod 755 \"$0\"", path])
        try #require(writer.end() == 0)
        let (output, status, failure) = try spawn(path, sharing: sharing) { fl_release_held($0) }
        // "script here"
        #expect(output == 12)
        #expect(status == 0)
        #expect(failure == nil)
    }

    /// It does not wait for one that waits for its child.
    @Test func whileAChildSharesOurMemoryItsParentWaits() throws {
        _ = try spawn(sharing: true) { release in
            #expect(!starter.perform {})
            fl_release_held(release)
        }
        #expect(starter.perform {})
    }
}

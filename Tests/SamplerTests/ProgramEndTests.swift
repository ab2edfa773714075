import CSystem
import Glibc
import Sampler
import Testing

@testable import Launching

@Suite struct ProgramEndTests {
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
        ProgramEnd(pid: pid).await(unless: { false })
        #expect(kill(pid, 0) != 0 && errno == ESRCH)
        // The process is gone.
        ProgramEnd(pid: pid).stop()
    }
}

import Glibc
import Testing

@testable import Launching
@testable import ProcessIO
@testable import Sampler

/// The messages are for users who do not know this program.
@Suite struct SamplerErrorTests {
    private static let table: [(SamplerError, status: Int32, words: [String])] = [
        (.programNotFound("frob"), 127, ["'frob'", "not found in PATH", "./frob"]),
        (.programNotFound("./frob"), 127, ["'./frob'", "no such file"]),
        (
            .programNotFound("python3 slow.py"), 127,
            ["'python3 slow.py'", "words of their own: python3 slow.py"]
        ),
        (.programIsDirectory("/tmp"), 126, ["'/tmp'", "directory"]),
        (.programNotExecutable("./a.sh", code: EACCES), 126, ["'./a.sh'", "chmod +x"]),
        (.programNotExecutable("./a", code: ENOEXEC), 126, ["'./a'", "Exec format error"]),
        (.programNotExecutable("./a", code: ETXTBSY), 126, ["'./a'", "busy"]),
        (
            .interpreterMissing("./a.py", interpreter: "/bin/nope"), 126,
            ["'./a.py'", "'/bin/nope'", "does not exist"]
        ),
        (.programGainsPrivileges("/bin/su"), 125, ["'/bin/su'", "setuid", "run as root"]),
        (.programUnreadable("/opt/x"), 125, ["'/opt/x'", "not read", "run as root"]),
        (.noSuchProcess(4711), 125, ["4711", "no such process"]),
        (.zombie(4711), 125, ["4711", "exited already", "zombie"]),
        (.firstThreadEnded(4711), 125, ["4711", "first thread has ended", "record it"]),
        (.kernelThread(2), 125, ["2", "kernel thread"]),
        (.itself(4711), 125, ["4711", "itself"]),
        (.alreadyTraced(4711, tracer: 4712), 125, ["4711", "4712", "traces it already"]),
        (.notPermitted(4711, reason: .otherUser(owner: 33)), 125, ["4711", "user 33", "root"]),
        (
            .notPermitted(4711, reason: .yama(scope: 1)), 125,
            ["4711", "ptrace_scope", "is 1", "firstlight record", "sysctl"]
        ),
        (
            .notPermitted(4711, reason: .yama(scope: 2)), 125,
            ["4711", "ptrace_scope", "is 2", "root", "sysctl"]
        ),
        (
            .notPermitted(4711, reason: .yama(scope: 3)), 125,
            ["4711", "ptrace_scope", "is 3", "next boot"]
        ),
        (.notPermitted(4711, reason: .unknown), 125, ["4711", "SYS_PTRACE", "root"]),
        (
            .notPermitted(4711, reason: .capability), 125,
            ["4711", "root has no right", "SYS_PTRACE"]
        ),
        (
            .systemCall(SystemError("starting the sampling timer", code: EAGAIN)), 125,
            ["starting the sampling timer", "Resource temporarily unavailable"]
        ),
        (
            .systemCall(SystemError(starting: "the sampling thread", code: EAGAIN)), 125,
            ["starting the sampling thread", "ulimit -u", "pids.max", "unavailable"]
        ),
        (
            .systemCall(SystemError(starting: "a process", code: EMFILE)), 125,
            ["starting a process", "ulimit -n", "Too many open files"]
        ),
        (
            .tooFewDescriptors(limit: 24, needed: 32), 125,
            ["the limit is 24", "needs 32", "ulimit -n", "nofile"]
        ),
        (
            .tooLittleAddressSpace(limit: 100 << 20, needed: 150 << 20 + 5), 125,
            ["the limit is 100 MiB", "needs 151 MiB", "ulimit -v 154624"]
        ),
    ]

    @Test(arguments: table)
    func wording(error: SamplerError, status: Int32, words: [String]) {
        let text = error.description
        for word in words { #expect(text.contains(word), "\(text)") }
        #expect(!text.contains("\n"))
        // A sentence's end and beginning are the command line's to add.
        #expect(text.first?.isUppercase == false)
        #expect(text.last != ".")
        #expect(text.count < 220)
        #expect(error.exitStatus == status)
    }

    /// A user who is root is not advised to become root.
    @Test func rootIsNotToldToBeRoot() {
        let error = SamplerError.notPermitted(
            1,
            reason: AttachCheck.rule(
                owner: 0, user: 0, yamaScope: 1))
        #expect(!error.description.contains("run as root"))
    }

    @Test func noTwoReadTheSame() {
        #expect(Set(Self.table.map(\.0.description)).count == Self.table.count)
    }

    @Test func negativeResultsAreErrors() throws {
        #expect(try check(5, "counting") == 5)
        #expect(try check(0, "counting") == 0)
        #expect(throws: SystemError("counting", code: ENOENT)) {
            try check(-ENOENT, "counting")
        }
    }
}

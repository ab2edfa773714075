import Glibc
import TestSupport
import Testing

@testable import Launching
@testable import ProcessIO
@testable import Sampler

@Suite struct ProgramLookupTests {
    private static func resolve(_ name: String) throws(SamplerError) -> String {
        try ProgramLookup.resolve(CommandWord(name)).text
    }

    /// What looking a program up throws; nil when it is found.
    private static func refusal(_ name: String) -> SamplerError? {
        do throws(SamplerError) {
            _ = try Self.resolve(name)
            return nil
        } catch {
            return error
        }
    }

    @Test func aPathIsTakenAsItIs() throws {
        let scratch = try Scratch()
        let program = try scratch.write("#!/bin/sh\n", to: "a program")
        #expect(try Self.resolve(program) == program)
    }

    @Test func unrunnableProgramsAreExplained() throws {
        let scratch = try Scratch()
        let plain = try scratch.write("text", to: "plain", mode: 0o644)
        #expect(Self.refusal(plain) == .programNotExecutable(plain, code: EACCES))
        #expect(Self.refusal(scratch.folder) == .programIsDirectory(scratch.folder))
        #expect(Self.refusal("/") == .programIsDirectory("/"))
        let missing = scratch.path("missing")
        #expect(Self.refusal(missing) == .programNotFound(missing))
        #expect(Self.refusal(plain + "/x") == .programNotFound(plain + "/x"))
        #expect(Self.refusal("") == .programNotFound(""))
        let loop = scratch.path("loop")
        symlink(loop, loop)
        #expect(Self.refusal(loop) == .programNotExecutable(loop, code: ELOOP))
        let dangling = scratch.path("dangling")
        symlink(missing, dangling)
        #expect(Self.refusal(dangling) == .programNotFound(dangling))
    }

    /// The search path is the process's: in one of its own.
    @Test func theSearchPath() async {
        await #expect(processExitsWith: .success) {
            let first = try Scratch()
            let second = try Scratch()
            try first.write("", to: "both")
            try second.write("", to: "both")
            try second.write("", to: "one")
            try first.write("", to: "plain", mode: 0o644)
            try first.write("", to: "later", mode: 0o644)
            try second.write("", to: "later")
            mkdir(first.path("folder"), 0o755)
            setenv("PATH", "/nonexistent:\(first.folder):\(second.folder)", 1)

            #expect(try Self.resolve("both") == first.path("both"))
            #expect(try Self.resolve("one") == second.path("one"))
            // Passed over, as a shell does; named when there is no other.
            #expect(try Self.resolve("later") == second.path("later"))
            #expect(
                Self.refusal("plain") == .programNotExecutable(first.path("plain"), code: EACCES))
            #expect(Self.refusal("folder") == .programIsDirectory(first.path("folder")))
            #expect(Self.refusal("none") == .programNotFound("none"))
            #expect(Self.refusal("") == .programNotFound(""))

            // An empty entry is the current folder.
            chdir(second.folder)
            for path in ["", ":/nonexistent", "/nonexistent:", "/nonexistent::/nonexistent"] {
                setenv("PATH", path, 1)
                #expect(try Self.resolve("one") == "./one")
            }
            unsetenv("PATH")
            #expect(try Self.resolve("sh") == "/bin/sh")
            chdir("/")
        }
    }

    /// Root traces such programs rightly; another user does not.
    @Test func filesThatGivePrivileges() async {
        await #expect(processExitsWith: .success) {
            let scratch = try Scratch()
            let program = try scratch.write("", to: "su", mode: 0o4755)
            let group = try scratch.write("", to: "sg", mode: 0o2755)
            let plain = try scratch.write("", to: "plain")
            guard geteuid() == 0 else {
                // One's own: nothing is gained.
                #expect(Self.refusal(program) == nil)
                return
            }
            chmod(scratch.folder, 0o755)
            #expect(Self.refusal(program) == nil)
            setegid(65534)
            seteuid(65534)
            #expect(Self.refusal(program) == .programGainsPrivileges(program))
            #expect(Self.refusal(group) == .programGainsPrivileges(group))
            #expect(Self.refusal(plain) == nil)
            seteuid(0)
            setegid(0)
        }
    }

    @Test func whyExecFailed() throws {
        let scratch = try Scratch()
        let script = try scratch.write("#! /bin/nope -x\necho\n", to: "script")
        #expect(
            ProgramLookup.explain(path: script, code: ENOENT)
                == .interpreterMissing(script, interpreter: "/bin/nope"))
        let missing = scratch.path("missing")
        #expect(ProgramLookup.explain(path: missing, code: ENOENT) == .programNotFound(missing))
        #expect(
            ProgramLookup.explain(path: script, code: EACCES)
                == .programNotExecutable(script, code: EACCES))
        // An ELF file whose dynamic linker is not there.
        let program = try scratch.write("\u{7f}ELF", to: "program")
        guard case .interpreterMissing = ProgramLookup.explain(path: program, code: ENOENT) else {
            Issue.record("the linker is not named")
            return
        }
    }

    /// The kernel ends an interpreter's name at a blank of either kind, or at the line's end; a
    /// carriage return is part of it, and the most frequent cause.
    @Test func interpretersAsTheKernelReadsThem() throws {
        let scratch = try Scratch()
        let tab = try scratch.write("#!/bin/nope\t-x\n", to: "tab")
        #expect(
            ProgramLookup.explain(path: tab, code: ENOENT)
                == .interpreterMissing(tab, interpreter: "/bin/nope"))
        let windows = try scratch.write("#!/bin/sh\r\necho\r\n", to: "windows")
        #expect(
            ProgramLookup.explain(path: windows, code: ENOENT)
                == .interpreterMissing(windows, interpreter: "/bin/sh\r"))
        let short = try scratch.write("#!", to: "short")
        _ = ProgramLookup.explain(path: short, code: ENOENT)
        let empty = try scratch.write("", to: "empty")
        _ = ProgramLookup.explain(path: empty, code: ENOENT)
    }
}

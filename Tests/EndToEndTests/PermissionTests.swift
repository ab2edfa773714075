import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Programs that cannot be attached to or recorded, and the reason that the recorder gives.
    @Suite struct Permissions {
        private static let nobody = [
            "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
        ]

        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func attach(_ target: String) throws -> Finished {
            let words = ["attach", "-o", scratch("recording"), "--duration", "50ms", target]
            return try Firstlight.command(words).run()
        }

        /// The command as user `nobody`, with a copy of the program under test and a folder for
        /// recordings.
        private func asNobody(_ words: [String]) throws -> Command {
            chmod(scratch.folder, 0o777)
            if !scratch.has("firstlight") {
                try Scratch.copyItem(
                    atPath: try Setup.path(.firstlight), toPath: scratch("firstlight"))
                chmod(scratch("firstlight"), 0o755)
            }
            var command = Command(Self.nobody + [scratch("firstlight")] + words)
            command.directory = scratch.folder
            return command
        }

        /// Even the command line is read from /proc.
        @Test(.needsRoot, .needs("unshare")) func withoutProc() throws {
            let record = try Firstlight.recording(["true"], to: scratch("recording"))
            let result = try Command(
                ["unshare", "--mount", "sh", "-c", "umount -l /proc && exec \"$@\"", "sh"]
                    + record.words
            ).run()
            #expect(result.isRefusal(125, mentioning: "/proc", "mount"), "\(result)")
        }

        @Test(arguments: ["4194305", "2147483647"])
        func processesThatDoNotExist(pid: String) throws {
            let result = try attach(pid)
            #expect(result.isRefusal(125, mentioning: pid, "no such process"), "\(result)")
            #expect(scratch.names.isEmpty)
        }

        @Test(arguments: ["0", "abc", "99999999999999", "", "1x", "1.5"])
        func invalidProcessIDsAreRefused(text: String) throws {
            let result = try attach(text)
            #expect(result.isRefusal(125, mentioning: "'\(text)'"), "\(result)")
        }

        @Test func zombies() throws {
            let child = try Command(["true"]).start()
            #expect(child.waitUntilEnded())
            let result = try attach(String(child.pid))
            #expect(result.isRefusal(125, mentioning: "zombie"), "\(result)")
            #expect(try child.finish().status == 0)
        }

        @Test(
            .enabled(
                if: Proc.contents("/proc/2/comm") == "kthreadd\n",
                "the kernel's threads cannot be seen from here"))
        func kernelThreads() throws {
            let result = try attach("2")
            #expect(result.isRefusal(125, mentioning: "kernel thread"), "\(result)")
        }

        @Test func aTracedProcessIsRefused() throws {
            let sleeper = try Sleeper()
            let words = [
                "attach", "--quiet", "--capture", "ptrace", "-o", scratch("first"),
                String(sleeper.pid),
            ]
            let first = try Firstlight.command(words).start()
            try Proc.waitUntil("attaching") { Proc.isTraced(sleeper.pid) }
            let second = try attach(String(sleeper.pid))
            #expect(second.isRefusal(125, mentioning: "traces it", "\(first.pid)"), "\(second)")
            kill(first.pid, SIGINT)
            #expect(try first.finish().status == 0)
            #expect(try sleeper.end().status == 0)
        }

        @Test(.needsRoot, .needs("setpriv")) func anotherUsersProcess() throws {
            let sleeper = try Sleeper()
            let result = try asNobody(["attach", String(sleeper.pid)]).run()
            #expect(
                result.isRefusal(125, mentioning: "belongs to user 0", "run as"), "\(result)")
            #expect(try sleeper.end().status == 0)
            #expect(scratch.names == ["firstlight"])
        }

        /// The kernel gives a traced program no privileges, so it would not work as without
        /// recording.
        @Test(.needsRoot, .needs("setpriv"), arguments: [0o4755, 0o2755] as [mode_t])
        func programsThatGainPrivileges(mode: mode_t) throws {
            let program = scratch("privileged")
            try Scratch.copyItem(atPath: "/bin/true", toPath: program)
            chmod(program, mode)
            let result = try asNobody(["record", program]).run()
            let rule = mode == 0o4755 ? "setuid" : "setgid"
            #expect(result.isRefusal(125, mentioning: program, rule, "root"), "\(result)")
            #expect(scratch.names == ["firstlight", "privileged"])
            // Root may record it.
            #expect(try Firstlight.recording([program], to: scratch("r")).run().status == 0)
        }

        /// Its times would be unknown, and its stacks.
        @Test(.needsRoot, .needs("setpriv")) func programsThatMayNotBeRead() throws {
            let program = scratch("unreadable")
            try Scratch.copyItem(atPath: "/bin/true", toPath: program)
            chmod(program, 0o711)
            let result = try asNobody(["record", program]).run()
            #expect(
                result.isRefusal(125, mentioning: program, "not read", "root"), "\(result)")
            #expect(scratch.names == ["firstlight", "unreadable"])
            #expect(try Firstlight.recording([program], to: scratch("r")).run().status == 0)
        }

        /// A wrapper executes a program that gains privileges. The program gets them, and the
        /// summary says that it was not recorded.
        @Test(.needsRoot, .needs("setpriv")) func aProgramThatGainsPrivileges() throws {
            let program = scratch("id")
            let original = try #require(Tool.find("id"))
            try Scratch.copyItem(atPath: original, toPath: program)
            chmod(program, 0o4755)
            chmod(scratch.folder, 0o777)
            let script = "exec \(program) -u"
            let alone = try Command(Self.nobody + ["sh", "-c", script]).run()
            #expect(alone.status == 0)
            let result = try asNobody(["record", "-o", "recording", "sh", "-c", script]).run()
            #expect(result.status == 0 && result.output == alone.output, "\(result)")
            // A folder may be on a file system that ignores such privileges.
            let isSaid = result.error.contains("with the privileges of its file")
            #expect(isSaid || alone.output != "0\n", "\(result.error)")
        }

        @Test(.needsRoot, .needs("setpriv")) func recordingWithoutPermissionIsRefused() throws {
            chmod(scratch.folder, 0o777)
            let result = try asNobody(["record", "--quiet", "sh", "-c", "exit 9"]).run()
            #expect(result == Finished(end: .exited(9), output: "", error: ""))
            let report = try asNobody(["report"]).run()
            #expect(report.status == 0 && report.output.contains("Main"))
        }

        @Test(.needsRoot, .needs("setpriv")) func attachingWithoutPermissionIsRefused() throws {
            let program = scratch("sleeper")
            try Scratch.copyItem(atPath: try Setup.fixture("sleeper"), toPath: program)
            chmod(scratch.folder, 0o777)
            let sleeper = try Sleeper(Self.nobody + [program])
            let scope = Proc.contents("/proc/sys/kernel/yama/ptrace_scope")
            let result = try asNobody(
                ["attach", "--quiet", "--duration", "50ms", String(sleeper.pid)]
            ).run()
            if scope == nil || scope == "0\n" {
                #expect(result == Finished(end: .exited(0), output: "", error: ""))
            } else {
                #expect(result.isRefusal(125, mentioning: "Yama"), "\(result)")
            }
            #expect(try sleeper.end().status == 0)
        }

        @Test(.needsRoot, .needs("setpriv")) func aPlaceWhereNobodyMayWrite() throws {
            let result = try asNobody(
                ["record", "-o", "/root-only-\(getpid())", "touch", scratch("marker")]
            ).run()
            #expect(result.isRefusal(125, mentioning: "/root-only", "Permission"), "\(result)")
            #expect(!scratch.has("marker"))
        }

        @Test(.needsRoot, .needs("setpriv")) func aRecordingThatNobodyMayRead() throws {
            _ = try Firstlight.record(["true"], in: scratch)
            let result = try asNobody(["report", scratch("recording")]).run()
            #expect(result.isRefusal(1, mentioning: "Permission denied"), "\(result)")
        }
    }
}

import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

/// What a launch is called.
@Suite struct ProgramTitleTests {
    /// - Parameter commands: the programs that one process executed, each with its arguments.
    private func program(_ commands: [[String]], thread: String?) -> Profile.Program {
        var builder = RecordingBuilder(images: commands.map { ($0[0], 1) })
        for (index, command) in commands.enumerated() {
            builder.recording.images[index].arguments = command
        }
        let last = commands.last?.first?.split(separator: "/").last.map(String.init)
        _ = builder.thread(thread ?? last ?? "", tid: 7, to: 10, isMain: true)
        return Profile(builder.recording).program
    }

    private func subject(_ command: [String], thread: String? = nil) -> String {
        program([command], thread: thread).subject
    }

    private func title(_ commands: [String]..., thread: String? = nil) -> String {
        program(commands, thread: thread).title
    }

    @Test func theTitleNamesTheStartedProgram() {
        #expect(title(["/bin/app", "x"]) == "app")
        // The kernel names the thread after the script.
        #expect(title(["/bin/bash", "/home/run.sh"], thread: "run.sh") == "run.sh")
    }

    @Test func theTitleNamesTheExecutedProgram() {
        #expect(title(["/bin/bash", "/home/report.sh"], ["/bin/date"]) == "report.sh → date")
        #expect(title(["/bin/bash", "-e", "./report.sh"], ["/bin/date"]) == "report.sh → date")
        #expect(title(["/opt/tool"], ["/opt/libexec/worker"]) == "tool → worker")
        // The same under a longer name.
        #expect(
            title(["/bin/sh", "/usr/bin/python3", "a.py"], ["/opt/python3.12"]) == "python3.12")
    }

    @Test func aWrapperIsNotTheProgram() {
        #expect(title(["/usr/bin/env", "app"], ["/bin/app"]) == "app")
        #expect(
            title(["/usr/bin/nice", "env", "app"], ["/usr/bin/env", "app"], ["/a/app"]) == "app")
        #expect(title(["/bin/sh", "-c", "exec app"], ["/bin/app"]) == "app")
        #expect(title(["/lib64/ld-linux-x86-64.so.2", "./app"], ["/home/app"]) == "app")
        #expect(title(["/home/starter", "-c", "exec app"], ["/bin/app"]) == "app")
        #expect(
            title(["/usr/bin/env", "bash", "x"], ["/bin/bash", "/a/x"], ["/bin/date"]) == "x → date"
        )
    }

    @Test func scriptsOfOneInterpreterAreDifferentPrograms() {
        #expect(subject(["/bin/python3.12", "/srv/a.py", "x"]) == "a.py")
        #expect(subject(["/bin/python3", "-I", "-S", "b.py"]) == "b.py")
        #expect(subject(["/bin/python3", "-m", "pip"]) == "python3 -m pip")
        #expect(subject(["/bin/python3", "-c", "pass"]) == "python3")
        #expect(subject(["/bin/python3"]) == "python3")
        #expect(subject(["/bin/sha256sum", "file"]) == "sha256sum")
        #expect(subject(["/bin/bash", "/a/run.sh"], thread: "run.sh") == "run.sh")
    }
}

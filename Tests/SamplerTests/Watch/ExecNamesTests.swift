import ProfileModel
import Testing

@testable import Launching
@testable import Sampler

/// Which program a process had executed at which moment.
@Suite struct ExecNamesTests {
    private static func at(_ time: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: time) }

    @Test func theFirstCodeIsTheProgramsOwn() {
        var names = ExecNames()
        names.mapped(5, path: "/lib/before", inode: 1)
        names.executed(5, command: "app", at: Self.at(10))
        names.mapped(5, path: "/opt/app", inode: 2)
        names.mapped(5, path: "/lib/ld.so", inode: 3)
        let name = names.take(5, after: Self.at(1), upTo: Self.at(11))
        #expect(name?.command == "app" && name?.path == "/opt/app" && name?.inode == 2)
        let again = names.take(5, after: nil, upTo: Self.at(11))
        #expect(again == nil)
    }

    @Test func eachExecHasItsOwn() {
        var names = ExecNames()
        names.executed(5, command: "a", at: Self.at(10))
        names.executed(5, command: "b", at: Self.at(20))
        let first = names.take(5, after: nil, upTo: Self.at(15))
        let second = names.take(5, after: Self.at(15), upTo: Self.at(25))
        #expect(first?.command == "a" && second?.command == "b")
    }

    @Test func anOlderProgramsNameIsNotTaken() {
        var names = ExecNames()
        names.executed(5, command: "old", at: Self.at(10))
        let name = names.take(5, after: Self.at(15), upTo: Self.at(25))
        #expect(name == nil)
    }

    /// The next mapping may be a library's.
    @Test func afterALossNoPathIsGuessed() {
        var names = ExecNames()
        names.executed(5, command: "whole", at: Self.at(10))
        names.mapped(5, path: "/opt/whole", inode: 2)
        names.executed(6, command: "half", at: Self.at(11))
        names.lost()
        names.mapped(6, path: "/lib/libc.so", inode: 3)
        let whole = names.take(5, after: nil, upTo: Self.at(20))
        let half = names.take(6, after: nil, upTo: Self.at(20))
        #expect(whole?.path == "/opt/whole" && half == nil)
    }

    /// The kernel has reported the name, and then killed the process that tried to execute it.
    @Test func anEndedProcessIsForgotten() {
        var names = ExecNames()
        names.executed(5, command: "failed", at: Self.at(10))
        names.executed(5, command: "anothers", at: Self.at(20))
        names.forget(5, upTo: Self.at(15))
        let first = names.take(5, after: nil, upTo: Self.at(15))
        #expect(first == nil)
        let second = names.take(5, after: nil, upTo: Self.at(25))
        #expect(second?.command == "anothers")
    }

    @Test func endlessExecsTakeNoMemory() {
        var names = ExecNames()
        for time in 0..<10_000 { names.executed(5, command: "a", at: Self.at(Int64(time))) }
        let name = names.take(5, after: nil, upTo: Self.at(.max))
        #expect(name?.time == Self.at(63))
    }
}

@Suite struct WatchedProgramTests {
    private static func program(
        _ command: String, _ executable: String, _ arguments: String...
    ) -> WatchedProgram? {
        WatchedProgram(
            ProcessNames(
                command: Array(command.utf8), executable: Array(executable.utf8),
                arguments: arguments.map { Array($0.utf8) }))
    }

    @Test func aProgramIsCalledAsItsFile() {
        let program = Self.program("app", "/opt/app", "anything")
        #expect(program?.name == "app" && program?.path == "/opt/app")
        let long = Self.program("a-very-long-nam", "/opt/a-very-long-name")
        #expect(long?.name == "a-very-long-name")
    }

    @Test func aScriptIsCalledAsItself() {
        let script = Self.program("backup.sh", "/bin/dash", "/bin/sh", "/opt/backup.sh", "-v")
        #expect(script?.name == "backup.sh" && script?.path == "/opt/backup.sh")
        #expect(script?.executable == "/bin/dash")
        let long = Self.program("a-very-long-scr", "/bin/dash", "sh", "./a-very-long-script")
        #expect(long?.name == "a-very-long-script" && long?.path == "a-very-long-script")
        // Its arguments were gone.
        #expect(Self.program("backup.sh", "/bin/dash")?.name == "backup.sh")
    }

    @Test func aLinkIsCalledAsItself() {
        let link = Self.program("awk", "/usr/bin/mawk", "awk")
        #expect(link?.name == "awk" && link?.executable == "/usr/bin/mawk")
    }

    @Test func withoutAnyNameThereIsNone() {
        #expect(Self.program("", "") == nil)
        #expect(Self.program("app", "")?.name == "app")
        #expect(Self.program("", "/opt/app")?.name == "app")
    }
}

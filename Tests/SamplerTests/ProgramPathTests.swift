import Foundation
import Glibc
import ProfileModel
import System
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

/// Under which name a program was started.
@Suite struct ProgramPathTests {
    struct Case: CustomTestStringConvertible {
        var executable: String
        var given: String
        var first: String
        /// Paths that lead to the executable.
        var links: [String]
        var started: String

        init(
            _ executable: String, given: String, first: String, links: String..., started: String
        ) {
            self.executable = executable
            self.given = given
            self.first = first
            self.links = links
            self.started = started
        }

        var testDescription: String { "\(executable), \(given), \(first)" }
    }

    private static let redis = "/usr/bin/redis-check-rdb"
    private static let server = "/usr/bin/redis-server"
    static let cases = [
        Case(redis, given: server, first: "redis-server", links: server, started: server),
        Case(redis, given: server, first: server, links: server, started: server),
        Case(redis, given: redis, first: "redis-check-rdb", links: server, started: redis),
        // The program has renamed itself since.
        Case(redis, given: server, first: "redis-server *:6379", links: server, started: server),
        // An argv[0] that leads nowhere, or elsewhere.
        Case("/bin/sleep", given: "/bin/sleep", first: "nap", started: "/bin/sleep"),
        Case("/bin/sleep", given: "/bin/sleep", first: "/bin/true", started: "/bin/sleep"),
        Case("/bin/sleep", given: "/bin/sleep", first: "", started: "/bin/sleep"),
        Case("/bin/sleep", given: "", first: "-", started: "/bin/sleep"),
        // Scripts and login shells.
        Case(
            "/bin/dash", given: "/home/x.sh", first: "/bin/sh", links: "/bin/sh", started: "/bin/sh"
        ),
        Case("/bin/dash", given: "/bin/sh", first: "-sh", links: "/bin/sh", started: "/bin/sh"),
        Case("/bin/bash", given: "/bin/bash", first: "-bash", started: "/bin/bash"),
        // The same program by another folder keeps the file's path.
        Case(
            "/usr/bin/cat", given: "/bin/cat", first: "cat", links: "/bin/cat",
            started: "/usr/bin/cat"),
        // One file, many programs: by argv[0].
        Case(
            "/bin/busybox", given: "/bin/busybox", first: "ls", links: "/bin/ls", started: "/bin/ls"
        ),
        // The given path may not be a program's name at all.
        Case(
            "/opt/app", given: "/proc/self/exe", first: "/opt/app --type=gpu",
            links: "/proc/self/exe", started: "/opt/app"),
        Case("/opt/app", given: "/dev/fd/3", first: "", links: "/dev/fd/3", started: "/opt/app"),
        Case("/opt/app", given: "/", first: "/", links: "/", started: "/opt/app"),
        Case("", given: "", first: "app", started: ""),
    ]

    @Test(arguments: cases) func choice(example: Case) {
        let path = ProgramPath(
            executable: example.executable, given: example.given, firstArgument: example.first)
        #expect(path.started(isExecutable: example.links.contains) == example.started)
    }

    /// The kernel is asked: a link that was started, by its path and from its folder.
    @Test(arguments: [true, false]) func aLink(isAbsolute: Bool) throws {
        let scratch = try Scratch()
        let link = scratch.path("tomcat")
        try #require(symlink("/bin/cat", link) == 0)
        let input = try Connection(isSocket: false)
        let shell = isAbsolute ? "exec \(link) -" : "cd \(scratch.folder) && exec ./tomcat -"
        let child = try Child(["sh", "-c", shell], input: input.ends[0])
        #expect(
            eventually { ProcessFiles(pid: child.pid).image(at: .now).arguments.last == "-" })
        let image = ProcessFiles(pid: child.pid).image(at: .now)
        #expect(image.path == link)
        #expect(image.name == "tomcat")
    }

    @Test func aProcessThatIsGone() {
        #expect(ProgramPath.started(pid: .max, executable: "/a/b", firstArgument: "c") == "/a/b")
    }

    /// Of a process that ends while it is read, `/proc` has only some, and its executable's link
    /// leads to another name. An event told the name and the file.
    @Test func eventsCompleteAnImage() throws {
        let scratch = try Scratch()
        let (file, link) = (scratch.path("dash"), scratch.path("sh"))
        try "a shell".write(toFile: file, atomically: false, encoding: .utf8)
        try #require(symlink(file, link) == 0)
        var status = stat()
        try #require(stat(file, &status) == 0)
        let code = CodeMapping(
            start: 0, end: 4096, fileOffset: 0, path: file, inode: UInt64(status.st_ino))
        func path(_ read: String, _ arguments: [String], called name: String) -> String {
            Image(path: read, arguments: arguments, time: MonotonicTime(nanoseconds: 0))
                .completed(by: code, called: name).path
        }
        #expect(path("", [], called: "sh") == link)
        #expect(path(file, [], called: "sh") == link)
        #expect(path(file, ["sh", "-c"], called: "sh") == link)
        // The values that were read say more: another link, or an `argv[0]` of its own.
        #expect(path("/opt/ash", ["ash"], called: "sh") == "/opt/ash")
        #expect(path(file, ["/x/dash"], called: "sh") == file)
        // A script's name is no name of its interpreter.
        #expect(path(file, [], called: "build.sh") == file)
        // Where the event was lost, the file at the path tells.
        func withoutEvent(_ path: String, _ name: String) -> String {
            Image(path: path, arguments: [], time: MonotonicTime(nanoseconds: 0))
                .completed(by: nil, called: name).path
        }
        #expect(withoutEvent(file, "sh") == link)
        #expect(withoutEvent(file, "ash") == file)
        #expect(withoutEvent(scratch.path("gone"), "sh") == scratch.path("gone"))
        #expect(withoutEvent("", "sh") == "")
    }
}

import Glibc
import ProfileModel
import System
import TestSupport
import Testing

@testable import Readiness
@testable import Sampler

@Suite struct OutputFileTests {
    /// Other processes may have a copy of the program's output: text that they write does not
    /// count.
    @Test func onlyWhatTheProgramWrites() throws {
        let scratch = try Scratch()
        let path = try scratch.write("", to: "output")
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        let pipe = scratch.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let file = try OutputFile(descriptor, for: "needle")
        let script = "read line < \(pipe); (echo needle >&0); exec tail -f /dev/null"
        let program = try Child(["sh", "-c", script], input: descriptor)
        file.began(program.pid)
        var now = MonotonicTime.now
        func look() -> Bool {
            now = now + WritingWatch.age
            return file.look(at: now)
        }
        #expect(!look())
        #expect(write(descriptor, "needle\n", 7) == 7)
        #expect(!look())
        #expect(!file.lookThrough())
        let input = open(pipe, O_WRONLY | O_CLOEXEC)
        #expect(write(input, "go\n", 3) == 3)
        close(input)
        #expect(eventually { lseek(descriptor, 0, SEEK_CUR) == 14 })
        #expect(look())
        #expect(file.lookThrough())
        _ = program
    }
}

import Glibc
import ProfileModel
import System
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

@Suite struct ProcessFilesTests {
    @Test func aProgramAndItsArguments() throws {
        let input = try Connection(isSocket: false)
        let child = try Child(["cat", "-", "", "two words\n"], input: input.ends[0])
        // The spawning call returns a moment before the arguments are in place.
        #expect(eventually { !ProcessFiles(pid: child.pid).image(at: .now).arguments.isEmpty })
        let image = ProcessFiles(pid: child.pid).image(at: MonotonicTime(nanoseconds: 7))
        #expect(image.name == "cat" || image.path.contains("busybox"))
        #expect(image.arguments == ["cat", "-", "", "two words\n"])
        #expect(image.time == MonotonicTime(nanoseconds: 7))
    }

    @Test func countersAndThreads() throws {
        let files = ProcessFiles(pid: getpid())
        let counters = files.counters()
        #expect((counters.minorFaults ?? 0) > 0)
        #expect((counters.majorFaults ?? -1) >= 0)
        #expect((counters.readBytes ?? -1) >= 0)
        #expect(files.threadIDs().contains(getpid()))
        #expect(files.status("Tgid:") == Int64(getpid()))
        #expect(files.stat()?.isZombie == false)
    }

    @Test func aProcessThatIsGone() {
        let files = ProcessFiles(pid: .max)
        #expect(files.counters() == ProcessCounters())
        #expect(files.stat() == nil)
        #expect(files.status("Tgid:") == nil)
        #expect(files.threadIDs().isEmpty)
        #expect(files.image(at: .now).arguments.isEmpty)
    }

    /// A container's filter answers EPERM, an old kernel ENOSYS.
    @Test func errorsThatMeanSharedMemory() {
        for (answer, child, other) in [
            (1, true, true), (0, false, false), (-ESRCH, false, false), (-EPERM, true, false),
            (-ENOSYS, true, false), (-EACCES, true, false),
        ] {
            #expect(ProcessFiles.mayShareMemory(answer) { true } == child, "\(answer)")
            #expect(ProcessFiles.mayShareMemory(answer) { false } == other, "\(answer)")
        }
    }

    /// Longer than the buffer at first, and then a short file again.
    @Test func buffersGrow() throws {
        let scratch = try Scratch()
        let long = try scratch.write(String(repeating: "0123456789", count: 1000), to: "long")
        let short = try scratch.write("ab", to: "short")
        var buffer = ReadBuffer(capacity: 64)
        buffer.readAll(path: long)
        #expect(buffer.contents.count == 10_000)
        buffer.readAll(path: short)
        #expect(buffer.contents == Array("ab".utf8))
        buffer.readAll(path: scratch.path("missing"))
        #expect(buffer.contents.isEmpty)
    }
}

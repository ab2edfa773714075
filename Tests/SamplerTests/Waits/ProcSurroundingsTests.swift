import Glibc
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

/// The surroundings of a live process: this one.
@Suite struct ProcSurroundingsTests {
    private let own = ProcSurroundings(pid: getpid(), tid: getpid(), isUninterruptible: false)

    @Test func descriptors() throws {
        let pipe = try Connection(isSocket: false)
        #expect(own.link(of: pipe.ends[0])?.hasPrefix("pipe:[") == true)
        #expect(own.link(of: -1) == nil)
        #expect(own.socket(pipe.ends[0]) == nil)
        #expect(own.socket(-1) == nil)
        #expect(own.information(on: pipe.ends[0]) != nil)
        #expect(own.information(on: -1) == nil)
        // It has no name.
        let scratch = try Scratch()
        #expect(mkfifo(scratch.path("fifo"), 0o600) == 0)
        let fifo = open(scratch.path("fifo"), O_RDWR | O_CLOEXEC)
        defer { close(fifo) }
        #expect(own.isNamedPipe(fifo))
        try scratch.write("x", to: "file")
        let file = open(scratch.path("file"), O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(!own.isNamedPipe(file) && !own.isNamedPipe(-1))
        #expect(own.link(of: file) == scratch.path("file"))
    }

    @Test func socketsOfAnotherProcess() throws {
        let connection = try Connection(isSocket: true)
        let child = try Child(["cat"], input: connection.ends[0])
        let surroundings = ProcSurroundings(
            pid: child.pid, tid: child.pid, isUninterruptible: false)
        var ends: SocketEnds?
        #expect(
            eventually {
                ends = surroundings.socket(0)
                return ends != nil
            })
        // The ends of a pair have no names.
        #expect(ends == SocketEnds(isListening: false, local: nil, peer: nil))
        #expect(surroundings.socket(1) == nil)
    }

    @Test func commandsAndChildren() throws {
        let connection = try Connection(isSocket: false)
        let child = try Child(["cat", "-u"], input: connection.ends[0])
        #expect(eventually { own.command(of: child.pid)?.first == "cat" })
        #expect(own.command(of: child.pid) == ["cat", "-u"])
        #expect(own.children?.contains(child.pid) == true)
        #expect(
            ProcSurroundings(pid: child.pid, tid: child.pid, isUninterruptible: false).children
                == [])
        #expect(own.command(of: 0) == nil && own.command(of: -1) == nil)
        #expect(ProcSurroundings(pid: 0, tid: 0, isUninterruptible: false).children == nil)
    }

    @Test func threads() {
        #expect(own.thread(getpid()) == getpid() && own.thread(0) == nil && own.thread(-1) == nil)
    }

    @Test func memory() {
        var value: Int32 = 0x1234_5678
        let word = withUnsafePointer(to: &value) {
            own.word(at: UInt64(UInt(bitPattern: $0)))
        }
        #expect(word == 0x1234_5678)
        #expect(own.word(at: 0) == nil && own.text(at: 0) == nil)
    }
}

import Testing

@testable import Sampler

@Suite struct RestartingCallsTests {
    private static func survives(_ call: Int32, _ pid: Int32 = 1) -> Bool {
        RestartingCalls.survivesStop(call, process: pid, thread: pid)
    }

    @Test(arguments: [7, 23, 34, 35, 61, 202, 230, 247, 270, 271] as [Int32])
    func theKernelRestartsThem(call: Int32) {
        #expect(Self.survives(call))
    }

    /// epoll_wait, epoll_pwait, semop, msgrcv, io_getevents, sigtimedwait, recvfrom, accept,
    /// futex_waitv, and no call at all.
    @Test(arguments: [232, 281, 65, 70, 208, 128, 45, 43, 449, -1, .max] as [Int32])
    func mayReturnEarly(call: Int32) {
        #expect(!Self.survives(call))
    }

    /// A child that waits in read(2) for something that never comes.
    private static func reader(_ input: borrowing Connection) throws -> Child {
        let child = try Child(["cat"], input: input.ends[0])
        let isReading = eventually {
            var buffer = ReadBuffer()
            buffer.readAll(path: "/proc/\(child.pid)/syscall")
            return String(decoding: buffer.contents, as: UTF8.self).hasPrefix("0 0x0 ")
        }
        try #require(isReading)
        return child
    }

    @Test func readingFromAPipe() throws {
        let input = try Connection(isSocket: false)
        let child = try Self.reader(input)
        #expect(Self.survives(0, child.pid))
        // Another call than the one that it is in would not be asked about.
        #expect(!Self.survives(232, child.pid))
    }

    /// A socket may have a time limit, with which the call is not restarted.
    @Test func readingFromASocket() throws {
        let input = try Connection(isSocket: true)
        let child = try Self.reader(input)
        #expect(!Self.survives(0, child.pid))
    }

    @Test func aProcessThatIsGone() {
        #expect(!Self.survives(0, .max))
        #expect(!Self.survives(1, -1))
    }
}

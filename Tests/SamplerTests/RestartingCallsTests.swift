import Architecture
import Glibc
import ProfileModel
import Testing

@testable import ProcessIO
@testable import Sampler

@Suite struct RestartingCallsTests {
    private static func kind(
        _ call: Int32, _ pid: Int32 = 1, _ arguments: [Int: UInt64] = [:]
    ) -> WaitKind {
        var registers = Registers()
        for (number, value) in arguments { registers[number] = value }
        return RestartingCalls.kind(of: call, registers, process: KernelProcess(pid: pid))
    }

    /// poll, select, pause, nanosleep, rt_sigsuspend, clock_nanosleep, pselect6, ppoll.
    @Test(arguments: [7, 23, 34, 35, 130, 230, 270, 271] as [Int32])
    func theKernelRestartsThemAfterAStop(call: Int32) {
        #expect(Self.kind(call) == .restartsAfterStop)
    }

    /// No call (a page fault), wait4, waitid, flock, openat, fsync.
    @Test(arguments: [-1, 61, 247, 73, 257, 74] as [Int32])
    func aHandlerDoesNotEndThem(call: Int32) {
        #expect(Self.kind(call) == .restartsAfterHandler)
    }

    /// epoll_wait, epoll_pwait, semop, msgrcv, io_getevents, sigtimedwait, recvfrom, accept,
    /// futex_waitv, and a call that does not exist.
    @Test(arguments: [232, 281, 65, 70, 208, 128, 45, 43, 449, .max] as [Int32])
    func mayReturnEarly(call: Int32) {
        #expect(Self.kind(call) == .fragile)
    }

    @Test func aFutexWithATimeoutIsRestartedAfterAStopOnly() {
        #expect(Self.kind(202, 1, [10: 0]) == .restartsAfterHandler)
        #expect(Self.kind(202, 1, [10: 0x7FFF_0000]) == .restartsAfterStop)
        #expect(Self.kind(202) == .restartsAfterStop)
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
        #expect(Self.kind(0, child.pid, [5: 0]) == .restartsAfterHandler)
    }

    /// A socket may have a time limit, with which the call is not restarted.
    @Test func readingFromASocket() throws {
        let input = try Connection(isSocket: true)
        let child = try Self.reader(input)
        #expect(Self.kind(0, child.pid, [5: 0]) == .fragile)
    }

    /// A stop ends the call with the part written so far.
    @Test func writingToAPipeOrATerminal() throws {
        let output = try Connection(isSocket: false)
        let number = UInt64(output.ends[1])
        for call in [1, 20] as [Int32] {
            #expect(Self.kind(call, getpid(), [5: number]) == .fragile)
        }
        let null = open("/dev/null", O_WRONLY)
        defer { close(null) }
        #expect(Self.kind(1, getpid(), [5: UInt64(null)]) == .fragile)
    }

    @Test func writingToAFile() throws {
        let file = open("/etc/passwd", O_RDONLY)
        try #require(file >= 0)
        defer { close(file) }
        #expect(Self.kind(1, getpid(), [5: UInt64(file)]) == .restartsAfterHandler)
        #expect(Self.kind(20, getpid(), [5: UInt64(file)]) == .restartsAfterHandler)
    }

    @Test func aProcessThatIsGone() {
        #expect(Self.kind(0, .max, [5: 0]) == .fragile)
        #expect(Self.kind(1, -1, [5: 1]) == .fragile)
    }

    /// `mov $NUMBER, %eax; syscall`: the handler knows it by that alone.
    @Test(
        arguments: [
            (230, 0, [0xB8, 0xE6, 0, 0, 0, 0x0F, 0x05], true),  // clock_nanosleep
            (7, 0, [0xB8, 7, 0, 0, 0, 0x0F, 0x05], true),  // poll
            (202, 0x80, [0xB8, 0xCA, 0, 0, 0, 0x0F, 0x05], true),  // futex: wait
            (202, 0x81, [0xB8, 0xCA, 0, 0, 0, 0x0F, 0x05], false),  // futex: wake
            (230, 0, [0x48, 0x89, 0xF8, 0x89, 0xF0, 0x0F, 0x05], false),  // musl's
            (230, 0, [0xB8, 7, 0, 0, 0, 0x0F, 0x05], false), (230, 0, [], false),
            (426, 0, [0xB8, 0xAA, 1, 0, 0, 0x0F, 0x05], false),  // io_uring_enter
            (-1, 0, [0xB8, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0x05], false),
        ] as [(Int32, UInt64, [UInt8], Bool)])
    func callsThatTheHandlerMakesAgain(
        call: Int32, second: UInt64, code: [UInt8], isMadeAgain: Bool
    ) {
        var registers = Registers(programCounter: 0x1007, stackPointer: 0)
        registers[4] = second
        #expect(
            RestartingCalls.isMadeAgain(call, registers) { address, count in
                address == 0x1000 && count == 7 ? code : []
            } == isMadeAgain)
    }
}

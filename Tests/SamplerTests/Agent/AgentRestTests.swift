import Architecture
import CAgent
import CSystem
import Glibc
import Synchronization
import System
import TestSupport
import Testing

@testable import Agent
@testable import ProcessIO
@testable import Sampler

/// Calls that move data and that a signal of ours cuts short: the thread moves the rest in the
/// area's code.
extension AgentSignalTests {
    private static let restSize = 3 << 20

    private static func byte(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: index % 251) }

    /// Signals arrive all the time, while the written data is read piece by piece.
    @Test(arguments: [
        "write to a pipe", "write to a socket", "send", "parts to a pipe", "parts to a socket",
    ])
    func allIsMovedThatASignalOfOursCutShort(name: String) async {
        await #expect(processExitsWith: .success) { [name = name as String] in
            let mapped = try MappedAgentMemory()
            mapped.settle { $0.signal = (Self.signal, 0) }
            var ends: [Int32] = [-1, -1]
            let isSocket = !name.hasSuffix("pipe")
            let kind = Int32(SOCK_STREAM.rawValue)
            try #require(isSocket ? socketpair(AF_UNIX, kind, 0, &ends) == 0 : pipe(&ends) == 0)
            let (input, output) = (ends[0], ends[1])
            let size = Self.restSize
            let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                for index in 0..<size { buffer[index] = Self.byte(index) }
                count = size
            }
            let start = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 1)
            start.copyMemory(from: bytes, byteCount: size)
            let address = UInt(bitPattern: start)
            let waiter = Waiter {
                let start = UnsafeMutableRawPointer(bitPattern: address)
                let borders = [0, 1000, 1000, 70_000, 2_000_000, size]
                let parts = zip(borders, borders.dropFirst()).map {
                    iovec(iov_base: start?.advanced(by: $0), iov_len: $1 - $0)
                }
                return name == "send"
                    ? Int32(Glibc.send(output, start, size, 0))
                    : name.hasPrefix("parts")
                        ? Int32(writev(output, parts, Int32(parts.count)))
                        : Int32(Glibc.write(output, start, size))
            }
            #expect(eventually { waiter.tid != nil })
            let tid = try #require(waiter.tid)
            var (piece, count) = ([UInt8](repeating: 0, count: 16384), 0)
            while count < size {
                _ = fl_signal_thread(getpid(), tid, Self.signal, 1)
                let length = read(input, &piece, min(piece.count, size - count))
                // Cut short, it would write no more.
                guard length > 0, waiter.result.map({ $0 == size }) != false else { break }
                #expect(piece[..<length].enumerated().allSatisfy { $1 == Self.byte(count + $0) })
                count += length
            }
            #expect(count == size)
            #expect(eventually { waiter.result != nil })
            #expect(waiter.result == Int32(size))
        }
    }

    /// The thread's state after the handler, if its call has moved something.
    @Test func theRestIsWhatWasLeft() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let stack = UnsafeMutablePointer<UInt64>.allocate(capacity: 512)
            stack.initialize(repeating: 0xA5, count: 512)
            let pointer = UInt64(UInt(bitPattern: stack + 400))
            let frame = InterruptedFrame()
            let (rest, made) = (
                mapped.address + AgentCode.rest, mapped.address + AgentCode.restMade
            )
            let file = UInt64(UInt32(bitPattern: fl_make_memory("file", 4096)))
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            let output = UInt64(ends[1])
            // copy_file_range: places are the kernel's to count.
            frame.handle(
                326, 1000,
                [.rsp: pointer, .rdi: 9, .rsi: 11, .rdx: file, .r10: 13, .r8: 5000, .r9: 15],
                by: mapped)
            #expect(frame[.rip] == rest && frame[.rax] == 326)
            #expect(frame[.rsi] == 11 && frame[.rdx] == file && frame[.r10] == 13)
            #expect(frame[.r8] == 4000)
            let size = MemoryLayout<fl_rest>.size
            let (place, first) = (pointer - 128 - UInt64(size), 400 - 16 - size / 8)
            #expect(frame[.rsp] == place)
            let words = (0..<(size / 8)).map { stack[first + $0] }
            #expect(words[0...6].elementsEqual([1000, 9, 11, file, 13, 5000, 15]))
            #expect(words[8] == 326 && words[9] == pointer)
            // For unwinding, the thread is where it was.
            let memory = TargetMemory(pid: getpid())
            var registers = Registers(programCounter: made, stackPointer: place)
            let outside = AgentCode.outsideRest(registers, area: mapped.address) {
                memory.word(at: $0)
            }
            #expect(outside?.programCounter == words[7] && outside?.stackPointer == pointer)
            #expect(outside?.argument(1) == 11 && outside?.argument(4) == 5000)
            registers[Registers.programCounter] = mapped.address + AgentCode.restRange.upperBound
            #expect(
                AgentCode.outsideRest(registers, area: mapped.address) { memory.word(at: $0) }
                    == nil
            )
            // The rest is cut short, too.
            frame.handle(
                0, 1500, [.rip: made, .rsp: place, .rsi: 11, .rdx: file, .r10: 13, .r8: 4000],
                by: mapped)
            #expect(frame[.rip] == rest && frame[.rax] == 326 && frame[.r8] == 2500)
            #expect(frame[.rsp] == place && stack[first] == 2500)
            // sendfile to a file.
            frame.handle(
                40, 7, [.rsp: pointer, .rdi: file, .rsi: 11, .rdx: 12, .r10: 8], by: mapped)
            #expect(frame[.rip] == rest && frame[.r10] == 1 && frame[.rdx] == 12)
            // A write to a pipe goes on with the remaining data.
            frame.handle(1, 7, [.rsp: pointer, .rdi: output, .rsi: 100, .rdx: 20], by: mapped)
            #expect(frame[.rip] == mapped.address + AgentCode.restOfStream)
            #expect(stack[first + 12] == 107 && stack[first + 13] == 13)
            #expect(stack[first + 11] == 4 << 32 | output && stack[first + 14] == 0)
            // With several parts, the rest begins at the first part that was not written whole. The
            // second is empty.
            let parts = UnsafeMutablePointer<UInt64>.allocate(capacity: 6)
            for (index, word) in [1000, 5, 2000, 0, 3000, 9].enumerated() {
                parts[index] = UInt64(word)
            }
            let written: [InterruptedFrame.Register: UInt64] = [
                .rsp: pointer, .rdi: output, .rsi: UInt64(UInt(bitPattern: parts)), .rdx: 3,
            ]
            frame.handle(20, 5, written, by: mapped)
            #expect(frame[.rip] == mapped.address + AgentCode.restOfStream)
            #expect(stack[first + 12] == 3000 && stack[first + 13] == 9)
            #expect(stack[first + 17] == 3 << 32 | 3)
            frame.handle(20, 3, written, by: mapped)
            #expect(stack[first + 12] == 1003 && stack[first + 13] == 2)
            #expect(stack[first + 17] == 3 << 32 | 1)
            #expect(frame.result(of: 20, got: 14, written, by: mapped) == 14)
            // Complete, of another kind, without a place for the frame, of a regular file, to a pipe.
            for (number, registers) in [
                (40, [.rsp: pointer, .rdi: file, .r10: 7]), (275, [.rsp: pointer, .r8: 5000]),
                (40, [.rsp: 4096, .rdi: file, .r10: 8]),
                (40, [.rsp: pointer, .rdi: output, .r10: 8]),
                (1, [.rsp: pointer, .rdi: file, .rdx: 100]),
            ] as [(UInt32, [InterruptedFrame.Register: UInt64])] {
                #expect(frame.result(of: number, got: 7, registers, by: mapped) == 7)
            }
            // At a limit the rest would be a signal.
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(1), &limit)
            limit.rlim_cur = 1 << 20
            #expect(setrlimit(__rlimit_resource_t(1), &limit) == 0)
            let sendfile: [InterruptedFrame.Register: UInt64] = [
                .rsp: pointer, .rdi: file, .r10: 8,
            ]
            #expect(frame.result(of: 40, got: 7, sendfile, by: mapped) == 7)
            // A program in which we make no calls gets the short result.
            mapped.area.silence()
            #expect(
                frame.result(
                    of: 1, got: 7, [.rsp: pointer, .rdi: output, .rdx: 20], by: mapped) == 7)
        }
    }
}

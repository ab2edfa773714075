import Architecture
import CAgent
import CSystem
import Glibc
import Synchronization
import System
import TestSupport
import Testing

@testable import Sampler

/// Calls that move data and that a signal of ours cuts short: the thread makes the rest in the area's code.
extension AreaSignalTests {
    /// sendfile(2), of which Swift's module of the C library knows nothing.
    private typealias Sendfile = @convention(c) (Int32, Int32, UnsafeMutableRawPointer?, Int) -> Int

    private static let restSize = 3 << 20

    private static func byte(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: index % 251) }

    /// Signals all the time, while somebody reads what is written piece by piece.
    @Test(arguments: ["write", "writev", "send", "sendfile"])
    func allIsMovedThatASignalOfOursCutShort(name: String) async {
        await #expect(processExitsWith: .success) { [name = name as String] in
            let mapped = try MappedArea()
            mapped.settle { $0.signal = (Self.signal, 0) }
            var ends: [Int32] = [-1, -1]
            let isSocket = name.hasPrefix("send")
            let kind = Int32(SOCK_STREAM.rawValue)
            try #require(isSocket ? socketpair(AF_UNIX, kind, 0, &ends) == 0 : pipe(&ends) == 0)
            let (input, output) = (ends[0], ends[1])
            let size = Self.restSize
            let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                for index in 0..<size { buffer[index] = Self.byte(index) }
                count = size
            }
            let file = fl_make_memory("moved", size)
            try #require(file >= 0 && Glibc.write(file, bytes, size) == size)
            try #require(lseek(file, 0, SEEK_SET) == 0)
            let sendfile = unsafeBitCast(
                try #require(dlsym(nil, "sendfile")), to: Sendfile.self)
            let waiter = Waiter {
                switch name {
                case "write": return Int32(Glibc.write(output, bytes, size))
                case "send": return Int32(Glibc.send(output, bytes, size, 0))
                case "sendfile": return Int32(sendfile(output, file, nil, size))
                default:
                    return bytes.withUnsafeBytes { all in
                        let start = UnsafeMutableRawPointer(mutating: all.baseAddress)
                        let borders = [0, 1, 70_000, 70_000, 1 << 20, size]
                        var parts = zip(borders, borders.dropFirst()).map {
                            iovec(
                                iov_base: start.map { [first = $0] in $0 + first }, iov_len: $1 - $0
                            )
                        }
                        return Int32(Glibc.writev(output, &parts, Int32(parts.count)))
                    }
                }
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

    /// What the handler leaves of a thread whose call has moved something.
    @Test func theRestIsWhatWasLeft() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let stack = UnsafeMutablePointer<UInt64>.allocate(capacity: 512)
            stack.initialize(repeating: 0xA5, count: 512)
            let pointer = UInt64(UInt(bitPattern: stack + 400))
            let frame = InterruptedFrame()
            let (rest, made) = (
                mapped.address + AreaCode.rest, mapped.address + AreaCode.restMade
            )
            // copy_file_range: places are the kernel's to count.
            frame.handle(
                326, 1000, [.rsp: pointer, .rsi: 11, .rdx: 12, .r10: 13, .r8: 5000], by: mapped)
            #expect(frame[.rip] == rest && frame[.rax] == 326)
            #expect(frame[.rsi] == 11 && frame[.rdx] == 12 && frame[.r10] == 13)
            #expect(frame[.r8] == 4000)
            let place = pointer - 128 - UInt64(MemoryLayout<fl_rest>.size)
            #expect(frame[.rsp] == place)
            let words = (0..<8).map { stack[400 - 16 - 8 + $0] }
            #expect(words[0...4].elementsEqual([1000, 11, 12, 13, 5000]))
            #expect(words[6] == 326 && words[7] == pointer)
            // For who unwinds, it is where it was.
            let memory = TargetMemory(pid: getpid())
            var registers = Registers(programCounter: made, stackPointer: place)
            let outside = AreaCode.outsideRest(registers, area: mapped.address) {
                memory.word(at: $0)
            }
            #expect(outside?.programCounter == words[5] && outside?.stackPointer == pointer)
            #expect(outside?.argument(1) == 11 && outside?.argument(4) == 5000)
            registers[Registers.programCounter] = mapped.address + AreaCode.restRange.upperBound
            #expect(
                AreaCode.outsideRest(registers, area: mapped.address) { memory.word(at: $0) } == nil
            )
            // The rest is cut short, too.
            frame.handle(
                0, 1500, [.rip: made, .rsp: place, .rsi: 11, .rdx: 12, .r10: 13, .r8: 4000],
                by: mapped)
            #expect(frame[.rip] == rest && frame[.rax] == 326 && frame[.r8] == 2500)
            #expect(frame[.rsp] == place && stack[400 - 16 - 8] == 2500)
            // sendfile to a file, but to no pipe.
            let file = UInt64(UInt32(bitPattern: fl_make_memory("file", 4096)))
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            frame.handle(
                40, 7, [.rsp: pointer, .rdi: file, .rsi: 11, .rdx: 12, .r10: 8], by: mapped)
            #expect(frame[.rip] == rest && frame[.r10] == 1 && frame[.rdx] == 12)
            // Complete, of another kind, without a place for the frame, or of a regular file.
            for (number, registers) in [
                (40, [.rsp: pointer, .rdi: file, .r10: 7]), (275, [.rsp: pointer, .r8: 5000]),
                (40, [.rsp: 4096, .rdi: file, .r10: 8]),
                (40, [.rsp: pointer, .rdi: UInt64(ends[1]), .r10: 8]),
                (1, [.rsp: pointer, .rdi: file, .rdx: 100]),
            ] as [(UInt32, [InterruptedFrame.Register: UInt64])] {
                #expect(frame.result(of: number, got: 7, registers, by: mapped) == 7)
            }
            // Who makes no calls of ours gets what it has.
            mapped.area.silence()
            #expect(
                frame.result(of: 40, got: 7, [.rsp: pointer, .rdi: file, .r10: 8], by: mapped) == 7)
        }
    }
}

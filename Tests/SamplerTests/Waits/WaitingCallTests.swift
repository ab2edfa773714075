import Architecture
import ProfileModel
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

/// Which system call is about what.
@Suite struct WaitingCallTests {
    private func call(_ number: Int32, _ arguments: UInt64...) -> WaitingCall {
        WaitingCall(number, .arguments(arguments))
    }

    @Test func descriptors() {
        for number in [0, 1, 3, 17, 20, 74, 75, 77, 217, 285, 328] as [Int32] {
            #expect(call(number, 5) == .descriptor(5), "\(number)")
        }
        #expect(call(5, 4) == .descriptor(4) && call(40, 4, 6) == .descriptor(4))
        // The kernel looks at 32 bits; a negative number is no descriptor.
        #expect(call(0, 0xdead_0000_0005) == .descriptor(5))
        #expect(call(0, UInt64.max) == .other)
        #expect(WaitingCall(0, Registers()) == .other)
    }

    @Test func paths() {
        #expect(call(2, 0x1000) == .path(0x1000) && call(59, 7) == .path(7))
        #expect(call(257, 100, 0x2000) == .path(0x2000) && call(332, 1, 8) == .path(8))
        #expect(call(162) == .path(nil))
    }

    @Test func sockets() {
        for number in [43, 44, 45, 46, 47, 288, 299, 307] as [Int32] {
            #expect(call(number, 9) == .socket(9), "\(number)")
        }
        #expect(call(42, 3, 0x1000, 16) == .connection(to: 0x1000, length: 16))
    }

    @Test func severalDescriptors() {
        #expect(call(7, 0x1000, 2, 50) == .poll(0x1000, count: 2))
        #expect(call(271, 0x1000, 2) == .poll(0x1000, count: 2))
        #expect(call(7, 0, 0, 50) == .sleep(.poll, length: nil))
        #expect(call(23, 9, 0x10, 0, 0x20) == .select([0x10, 0x20], count: 9))
        #expect(call(270, 0, 0, 0, 0, 0x30) == .sleep(.select, length: nil))
        #expect(call(271, 0, 0, 0x30) == .sleep(.poll, length: nil))
        // For ever, or until a signal comes.
        #expect(call(270, 0, 0, 0, 0, 0) == .signal && call(271, 0, 0, 0) == .signal)
        #expect(call(7, 0, 0, UInt64(UInt32.max)) == .signal)
        for number in [232, 281, 441] as [Int32] { #expect(call(number, 4) == .epoll(4)) }
        #expect(call(426, 4) == .ioUring)
    }

    @Test func processes() {
        #expect(call(61, 77) == .child(.process(77)))
        #expect(call(61, UInt64(UInt32.max)) == .child(.any) && call(61, 0) == .child(.any))
        #expect(call(247, 1, 77) == .child(.process(77)))
        #expect(call(247, 1, 0) == .other)
        #expect(call(247, 3, 6) == .child(.descriptor(6)))
        #expect(call(247, 0, 0) == .child(.any) && call(247, 2, 5) == .child(.any))
        for number in [56, 57, 58, 435] as [Int32] { #expect(call(number) == .spawning) }
    }

    @Test func locksTimeAndSignals() {
        #expect(call(73, 3) == .fileLock(3))
        #expect(call(72, 3, 7) == .fileLock(3) && call(72, 3, 38) == .fileLock(3))
        #expect(call(72, 3, 5) == .other)
        #expect(call(35, 0x1000) == .sleep(.nanosleep, length: 0x1000))
        #expect(call(230, 1, 0, 0x1000) == .sleep(.clockNanosleep, length: 0x1000))
        #expect(call(230, 1, 1, 0x1000) == .sleep(.clockNanosleep, length: nil))
        for number in [34, 128, 130] as [Int32] { #expect(call(number) == .signal) }
        #expect(call(65) == .systemSemaphore && call(220) == .systemSemaphore)
        #expect(call(70) == .messageQueue)
        #expect(call(202, 8, 128, 2) == FutexCall(202, .arguments([8, 128, 2])).map { .futex($0) })
    }

    @Test func everythingElse() {
        #expect(call(-1) == .outside)
        #expect(call(24) == .other && call(9999) == .other && call(.max) == .other)
    }

    /// No arguments make any call trap.
    @Test func anyArguments() {
        var random = SeededNumbers(seed: 1)
        let surroundings = FakeSurroundings()
        for number in -1...470 as ClosedRange<Int32> {
            for _ in 0..<20 {
                let arguments = (0..<6).map { _ in
                    let bits = UInt64.random(in: .min ... .max, using: &random)
                    return [bits, bits >> 40, 0, .max, bits & 7][Int(bits % 5)]
                }
                let call = WaitingCall(number, .arguments(arguments))
                _ = WaitInspection(surroundings: surroundings).reason(for: call)
            }
        }
    }
}

extension Registers {
    /// A system call's arguments, as `/proc` tells them.
    static func arguments(_ values: [UInt64]) -> Registers {
        var registers = Registers()
        for (number, value) in zip([5, 4, 1, 10, 8, 9], values) { registers[number] = value }
        return registers
    }
}

/// A process made up by a test.
struct FakeSurroundings: WaitSurroundings {
    /// By their addresses; reads go on to the end of the bytes.
    var contents: [UInt64: [UInt8]] = [:]
    var threads: Set<Int32> = []
    /// How much our ids exceed those that the process knows.
    var offset: Int32 = 0
    var isUninterruptible = false
    var isStopped = false
    var isFrozen = false
    var links: [Int32: String] = [:]
    var pipes: Set<Int32> = []
    var sockets: [Int32: SocketEnds] = [:]
    var texts: [Int32: String] = [:]
    var children: [Int32]?
    var commands: [Int32: [String]] = [:]

    func memory(at address: UInt64, count: Int) -> [UInt8] {
        for (start, bytes) in contents where start <= address && address - start < bytes.count {
            return Array(bytes.dropFirst(Int(address - start)).prefix(count))
        }
        return []
    }
    func thread(_ inner: Int32) -> Int32? {
        threads.contains(inner + offset) ? inner + offset : nil
    }
    func child(_ inner: Int32) -> Int32? { inner + offset }
    func link(of descriptor: Int32) -> String? { links[descriptor] }
    func isNamedPipe(_ descriptor: Int32) -> Bool { pipes.contains(descriptor) }
    func socket(_ descriptor: Int32) -> SocketEnds? { sockets[descriptor] }
    func information(on descriptor: Int32) -> ProcText? {
        texts[descriptor].map { ProcText(Array($0.utf8)) }
    }
    func command(of process: Int32) -> [String]? { commands[process] }
}

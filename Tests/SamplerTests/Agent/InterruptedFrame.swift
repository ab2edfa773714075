import Glibc
import Testing

@testable import Agent
@testable import Sampler

extension AgentSignalTests {
    /// A handler's view of a thread whose call seems to have just ended with EINTR.
    ///
    /// Unsafe code: all of it lies within two blocks of memory.
    final class InterruptedFrame {
        private let words = UnsafeMutablePointer<UInt64>.allocate(capacity: 64)
        private let code = UnsafeMutablePointer<UInt8>.allocate(capacity: 32)
        private let information = UnsafeMutablePointer<UInt64>.allocate(capacity: 16)
        private let end: UInt64

        init() {
            end = UInt64(UInt(bitPattern: code + 32))
            information.initialize(repeating: 0, count: 16)
        }

        deinit {
            words.deallocate()
            code.deallocate()
            information.deallocate()
        }

        subscript(register: Register) -> UInt64 { words[register.rawValue] }

        /// The place of a register in a frame.
        enum Register: Int {
            case r8 = 5
            case r9, r10
            case rdi = 13
            case rsi
            case rdx = 17
            case rax, rcx, rsp, rip
        }

        /// Whether the handler has the call repeated.
        ///
        /// - Parameters:
        ///   - behind: what the instruction for calls is to have left in rcx.
        /// - loads: the instructions between the number and that instruction.
        func isMadeAgain(
            _ number: UInt32, _ registers: [Register: UInt64] = [:], behind: UInt64? = nil,
            loads: [UInt8] = [], by mapped: MappedAgentMemory
        ) -> Bool {
            handle(number, -Int64(EINTR), registers, behind: behind, loads: loads, by: mapped)
            let isBefore = words[Register.rip.rawValue] == end - 2
            #expect(isBefore == (words[Register.rax.rawValue] == UInt64(number)))
            return isBefore
        }

        /// The result of a call that had moved so much when our signal came.
        ///
        /// - Parameter isShort: it is `xor %eax, %eax; syscall`.
        func result(
            of number: UInt32, got: Int, _ registers: [Register: UInt64], isShort: Bool = false,
            by mapped: MappedAgentMemory
        ) -> Int {
            handle(number, Int64(got), registers, isShort: isShort, by: mapped)
            #expect(words[Register.rip.rawValue] == end)
            return Int(bitPattern: UInt(words[Register.rax.rawValue]))
        }

        func handle(
            _ number: UInt32, _ result: Int64, _ registers: [Register: UInt64],
            behind: UInt64? = nil, isShort: Bool = false, loads: [UInt8] = [],
            by mapped: MappedAgentMemory
        ) {
            let number = withUnsafeBytes(of: number.littleEndian, Array.init)
            let load = isShort ? [0x90, 0x90, 0x90, 0x31, 0xC0] : [0xB8] + number
            let call = load + loads + [0x0F, 0x05]
            code.initialize(repeating: 0x90, count: 32)
            for (index, byte) in call.enumerated() { code[32 - call.count + index] = byte }
            words.initialize(repeating: 0, count: 64)
            for (register, value) in registers { words[register.rawValue] = value }
            words[Register.rax.rawValue] = UInt64(bitPattern: result)
            if registers[.rip] == nil { words[Register.rip.rawValue] = end }
            words[Register.rcx.rawValue] = behind ?? end
            typealias Handler =
                @convention(c) (Int32, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void
            mapped.function(at: AgentCode.sampleHandler, as: Handler.self)(
                AgentSignalTests.signal, information, words)
        }
    }
}

import Architecture
import ProfileModel

/// Each function's caller, found by stepping over every instruction: a call pushes its return
/// address, and once the stack pointer is above that, the call is over, by a return, a long jump or
/// an exception.
struct CallTruth {
    private struct Caller {
        var address: UInt64
        /// Where on the stack the address lies; nil: unknown, or it was interrupted.
        var slot: UInt64?
        /// It was interrupted, or is where a signal's handler returns to.
        var hasCalledNobody = false
    }

    /// Outermost first.
    private var callers: [Caller]
    private(set) var calls = 0
    private(set) var signals = 0
    /// A long jump or an exception has left functions, and has not arrived yet.
    private(set) var isLeaving = false

    /// - Parameter callers: those of where the steps begin, innermost first.
    init(callers: some BidirectionalCollection<UInt64>) {
        self.callers = callers.reversed().map { Caller(address: $0, slot: nil) }
    }

    var depth: Int { callers.count }

    /// A whole stack, innermost first.
    func stack(at registers: Registers) -> LiveUnwinder.Stack {
        LiveUnwinder.Stack(
            addresses: [registers.programCounter] + callers.reversed().map(\.address),
            instructions: [0]
                + callers.indices.reversed().filter { callers[$0].hasCalledNobody }
                .map { callers.count - $0 })
    }

    /// After an instruction.
    ///
    /// - Parameter code: the instruction's, and more.
    mutating func follow(_ code: [UInt8], from before: Registers, to after: Registers) {
        guard after.programCounter != before.programCounter else { return }
        let transfer = Transfer(code)
        switch transfer {
        case .call(let length) where after.stackPointer == before.stackPointer &- 8:
            callers.append(
                Caller(
                    address: before.programCounter &+ UInt64(length), slot: after.stackPointer))
            calls += 1
        case .return,
            .systemCall where before[Registers.result] == Transfer.signalReturn:
            callers.removeLast()
            isLeaving = false
        case .jump where isLeaving: isLeaving = false
        default:
            while let slot = callers.last?.slot, slot < after.stackPointer {
                callers.removeLast()
                isLeaving = true
            }
        }
    }

    /// Whether the addresses that calls have pushed are still there: shortly before an exception
    /// arrives, libgcc puts the registers of its landing pad in the places of its own callers'. No
    /// tables describe that.
    func isIntact(in stack: StackCopy) -> Bool {
        callers.allSatisfy { caller in
            guard let slot = caller.slot, let word = stack.word(at: slot) else { return true }
            return word == caller.address
        }
    }

    /// Before a jump or an exception arrives, glibc's and libgcc's tables give its destination.
    /// That is no return address: the code before it may be of another function, by whose rules the
    /// stack ends there.
    ///
    /// - Returns: whether a stack is that of the remaining callers, except for the exact place of
    /// arrival.
    func isOfArrival(_ stack: [UInt64]) -> Bool {
        callers.reversed().map(\.address).starts(with: stack.dropFirst(2))
    }

    /// Before a return, the word on top of the stack is its destination: an exception has its
    /// landing pad written there.
    mutating func expectReturn(_ code: [UInt8], at pointer: UInt64, to address: UInt64?) {
        guard case .return = Transfer(code), let slot = callers.last?.slot, slot != pointer,
            let address
        else { return }
        callers.append(Caller(address: address, slot: pointer))
    }

    /// After a signal's delivery: at the first instruction of its handler.
    ///
    /// - Parameter trampoline: where the handler returns to.
    mutating func enterHandler(
        from before: Registers, to after: Registers, trampoline: UInt64?
    ) {
        callers.append(
            Caller(address: before.programCounter, slot: nil, hasCalledNobody: true))
        if let trampoline {
            callers.append(
                Caller(
                    address: trampoline, slot: after.stackPointer, hasCalledNobody: true))
        }
        signals += 1
    }
}

/// Whether an instruction (x86-64) calls or returns; see the Intel SDM, CALL and RET.
private enum Transfer {
    case call(length: Int)
    case `return`
    case systemCall
    /// To an address in a register or in memory.
    case jump
    case other

    /// The number of rt_sigreturn.
    static let signalReturn: UInt64 = 15

    init(_ code: [UInt8]) {
        var index = 0
        // Prefixes: bnd/rep, notrack, addr32, and REX.
        while index < code.count - 7,
            [0xF2, 0xF3, 0x3E, 0x67].contains(code[index]) || code[index] & 0xF0 == 0x40
        {
            index += 1
        }
        guard index + 7 < code.count else {
            self = .other
            return
        }
        switch code[index] {
        case 0xE8: self = .call(length: index + 5)
        case 0xC3, 0xC2: self = .return
        case 0x0F where code[index + 1] == 0x05: self = .systemCall
        case 0xFF where (code[index + 1] >> 3) & 7 == 4: self = .jump
        case 0xFF where (code[index + 1] >> 3) & 7 == 2:
            self = .call(length: index + 2 + Self.addressLength(code[index + 1], code[index + 2]))
        default: self = .other
        }
    }

    /// Bytes of a memory operand behind its ModRM byte.
    private static func addressLength(_ modRM: UInt8, _ scale: UInt8) -> Int {
        let (mode, register) = (modRM >> 6, modRM & 7)
        if mode == 3 { return 0 }
        let hasScale = register == 4
        let hasBareOffset = mode == 0 && (register == 5 || hasScale && scale & 7 == 5)
        let offset = mode == 1 ? 1 : mode == 2 || hasBareOffset ? 4 : 0
        return offset + (hasScale ? 1 : 0)
    }
}

extension StackCopy {
    fileprivate func word(at address: UInt64) -> UInt64? {
        guard address >= start, bytes.count >= 8, address - start <= UInt64(bytes.count - 8) else {
            return nil
        }
        return bytes.withUnsafeBytes {
            $0.loadUnaligned(fromByteOffset: Int(address - start), as: UInt64.self)
        }
    }
}

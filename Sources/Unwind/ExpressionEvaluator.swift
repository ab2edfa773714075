import Architecture
import CElfutils
import ProfileModel

/// Evaluates DWARF expressions as they occur in call frame information (DWARF 5, 2.5 and 6.4.2):
/// on the frame's registers and the copied stack only.
struct ExpressionEvaluator {
    let registers: Registers
    let memory: StackMemory
    /// The value for `DW_OP_call_frame_cfa`.
    let cfa: UInt64?

    enum Failure: Error {
        case unknownRegister
        /// Memory outside the copied stack.
        case unreadable
        case unsupported
    }

    private static let stepLimit = 1000
    private static let depthLimit = 64

    /// The value on top of the stack at the end, and whether it *is* the value
    /// (`DW_OP_stack_value`) or the address of the value.
    func evaluate(
        _ operations: UnsafeBufferPointer<Dwarf_Op>
    ) throws(Failure) -> (value: UInt64, isValue: Bool) {
        var stack: [UInt64] = []
        var isValue = false
        var index = 0
        var steps = 0
        while index < operations.count {
            steps += 1
            guard steps <= Self.stepLimit, stack.count <= Self.depthLimit else {
                throw .unsupported
            }
            let operation = operations[index]
            index += 1
            switch Int(operation.atom) {
            case DW_OP_reg0...DW_OP_reg31 where operations.count == 1:
                return (try register(UInt64(Int(operation.atom) - DW_OP_reg0)), true)
            case DW_OP_regx where operations.count == 1:
                return (try register(operation.number), true)
            case DW_OP_stack_value:
                isValue = true
            case DW_OP_bra, DW_OP_skip:
                if Int(operation.atom) == DW_OP_bra, try pop(&stack) == 0 { continue }
                index = try target(of: operation, in: operations)
            default:
                try apply(operation, to: &stack)
            }
        }
        return (try pop(&stack), isValue)
    }

    /// Branches give a distance in bytes from the end of the operation (3 bytes long).
    private func target(
        of operation: Dwarf_Op, in operations: UnsafeBufferPointer<Dwarf_Op>
    ) throws(Failure) -> Int {
        let distance = Int64(Int16(truncatingIfNeeded: operation.number))
        let wanted = Int64(bitPattern: operation.offset) &+ 3 &+ distance
        for index in 0..<operations.count
        where Int64(bitPattern: operations[index].offset) == wanted {
            return index
        }
        throw .unsupported
    }

    private func apply(_ operation: Dwarf_Op, to stack: inout [UInt64]) throws(Failure) {
        let atom = Int(operation.atom)
        switch atom {
        case DW_OP_lit0...DW_OP_lit31:
            stack.append(UInt64(atom - DW_OP_lit0))
        case DW_OP_addr, DW_OP_const1u, DW_OP_const1s, DW_OP_const2u, DW_OP_const2s,
            DW_OP_const4u, DW_OP_const4s, DW_OP_const8u, DW_OP_const8s, DW_OP_constu,
            DW_OP_consts:
            stack.append(operation.number)
        case DW_OP_breg0...DW_OP_breg31:
            stack.append(try register(UInt64(atom - DW_OP_breg0)) &+ operation.number)
        case DW_OP_bregx:
            stack.append(try register(operation.number) &+ operation.number2)
        case DW_OP_call_frame_cfa:
            guard let cfa else { throw .unsupported }
            stack.append(cfa)
        case DW_OP_deref:
            stack.append(try read(pop(&stack), size: 8))
        case DW_OP_deref_size:
            stack.append(try read(pop(&stack), size: Int(truncatingIfNeeded: operation.number)))
        case DW_OP_plus_uconst:
            stack.append(try pop(&stack) &+ operation.number)
        case DW_OP_dup:
            let top = try pop(&stack)
            stack += [top, top]
        case DW_OP_drop:
            _ = try pop(&stack)
        case DW_OP_over:
            stack.append(try pick(1, from: stack))
        case DW_OP_pick:
            stack.append(try pick(operation.number, from: stack))
        case DW_OP_swap:
            let (top, next) = (try pop(&stack), try pop(&stack))
            stack += [top, next]
        case DW_OP_neg:
            stack.append(0 &- (try pop(&stack)))
        case DW_OP_not:
            stack.append(~(try pop(&stack)))
        case DW_OP_nop:
            break
        default:
            let right = try pop(&stack)
            let left = try pop(&stack)
            stack.append(try binary(atom, left, right))
        }
    }

    private func binary(_ atom: Int, _ left: UInt64, _ right: UInt64) throws(Failure) -> UInt64 {
        let (signedLeft, signedRight) = (Int64(bitPattern: left), Int64(bitPattern: right))
        switch atom {
        case DW_OP_plus: return left &+ right
        case DW_OP_minus: return left &- right
        case DW_OP_mul: return left &* right
        case DW_OP_and: return left & right
        case DW_OP_or: return left | right
        case DW_OP_xor: return left ^ right
        case DW_OP_shl: return left << right
        case DW_OP_shr: return left >> right
        case DW_OP_shra: return UInt64(bitPattern: signedLeft >> right)
        case DW_OP_eq: return left == right ? 1 : 0
        case DW_OP_ne: return left != right ? 1 : 0
        case DW_OP_lt: return signedLeft < signedRight ? 1 : 0
        case DW_OP_le: return signedLeft <= signedRight ? 1 : 0
        case DW_OP_gt: return signedLeft > signedRight ? 1 : 0
        case DW_OP_ge: return signedLeft >= signedRight ? 1 : 0
        default: throw .unsupported
        }
    }

    private func pop(_ stack: inout [UInt64]) throws(Failure) -> UInt64 {
        guard let top = stack.popLast() else { throw .unsupported }
        return top
    }

    private func pick(_ depth: UInt64, from stack: [UInt64]) throws(Failure) -> UInt64 {
        guard depth < UInt64(stack.count) else { throw .unsupported }
        return stack[stack.count - 1 - Int(depth)]
    }

    private func register(_ number: UInt64) throws(Failure) -> UInt64 {
        guard let value = registers[Int(truncatingIfNeeded: number)] else {
            throw .unknownRegister
        }
        return value
    }

    private func read(_ address: UInt64, size: Int) throws(Failure) -> UInt64 {
        guard let value = memory.value(at: address, size: size) else { throw .unreadable }
        return value
    }
}

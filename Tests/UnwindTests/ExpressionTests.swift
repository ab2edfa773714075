import Architecture
import CElfutils
import ProfileModel
import TestSupport
import Testing

@testable import Unwind

/// One operation of an expression; operations are a byte long here unless they branch.
struct Operation: Sendable {
    var atom: Int
    var number: UInt64 = 0
    var number2: UInt64 = 0
}

func op(_ atom: Int, _ number: UInt64 = 0, _ number2: UInt64 = 0) -> Operation {
    Operation(atom: atom, number: number, number2: number2)
}

private func lit(_ value: Int) -> Operation { op(DW_OP_lit0 + value) }
private func number(_ value: Int64) -> Operation { op(DW_OP_consts, UInt64(bitPattern: value)) }

/// rdi is 0x100, rsp points at four words on the stack, rax at nothing.
private func evaluate(
    _ operations: [Operation], cfa: UInt64? = nil
) throws(ExpressionEvaluator.Failure) -> (value: UInt64, isValue: Bool) {
    var registers = Registers()
    registers[5] = 0x100
    registers[Registers.stackPointer] = 0x7000
    let stack = StackCopy(
        start: 0x7000, words: [0x1111_2222_3333_4444, 0x7010, 0xFF80, UInt64.max])
    let evaluator = ExpressionEvaluator(
        registers: registers,
        memory: StackMemory(Snapshot(registers: registers, stack: stack)), cfa: cfa)
    var offset: UInt64 = 0
    let encoded = operations.map { operation in
        defer { offset += [DW_OP_bra, DW_OP_skip].contains(operation.atom) ? 3 : 1 }
        return Dwarf_Op(
            atom: UInt8(operation.atom), number: operation.number, number2: operation.number2,
            offset: offset)
    }
    let result = encoded.withUnsafeBufferPointer { buffer in
        Result { () throws(ExpressionEvaluator.Failure) in try evaluator.evaluate(buffer) }
    }
    return try result.get()
}

@Suite struct ExpressionTests {
    private static let minusThree = UInt64(bitPattern: -3)

    private static let values: [([Operation], UInt64)] = [
        ([lit(0)], 0), ([lit(31)], 31), ([op(DW_OP_const1u, 200)], 200), ([number(-3)], minusThree),
        ([op(DW_OP_addr, 0x40_1000)], 0x40_1000),
        ([op(DW_OP_breg5, 8)], 0x108), ([op(DW_OP_breg5, minusThree)], 0xFD),
        ([op(DW_OP_bregx, 7, 0x10)], 0x7010),
        ([op(DW_OP_breg7), op(DW_OP_deref)], 0x1111_2222_3333_4444),
        ([op(DW_OP_breg7), op(DW_OP_deref_size, 1)], 0x44),
        ([op(DW_OP_breg7), op(DW_OP_deref_size, 4)], 0x3333_4444),
        ([op(DW_OP_breg7, 8), op(DW_OP_deref), op(DW_OP_deref)], 0xFF80),
        ([lit(1), op(DW_OP_plus_uconst, 5)], 6), ([lit(7), op(DW_OP_dup), op(DW_OP_plus)], 14),
        ([lit(7), lit(8), op(DW_OP_drop)], 7), ([lit(7), lit(8), op(DW_OP_over)], 7),
        ([lit(7), lit(8), lit(9), op(DW_OP_pick, 2)], 7), ([lit(7), op(DW_OP_pick, 0)], 7),
        ([lit(7), lit(2), op(DW_OP_swap), op(DW_OP_minus)], UInt64(bitPattern: -5)),
        ([lit(3), op(DW_OP_neg)], minusThree), ([lit(0), op(DW_OP_not)], .max),
        ([lit(9), op(DW_OP_nop)], 9),
    ]

    @Test(arguments: values)
    func stackOperations(operations: [Operation], value: UInt64) throws {
        let result = try evaluate(operations)
        #expect(result.value == value)
        #expect(!result.isValue)
    }

    private static let pairs: [(Int, Int64, Int64, Int64)] = [
        (DW_OP_plus, 5, -7, -2), (DW_OP_minus, 5, 7, -2), (DW_OP_mul, -3, 4, -12),
        (DW_OP_plus, .max, 1, .min), (DW_OP_mul, .max, 2, -2), (DW_OP_minus, .min, 1, .max),
        (DW_OP_and, 12, 10, 8), (DW_OP_or, 12, 10, 14), (DW_OP_xor, 12, 10, 6),
        (DW_OP_shl, 3, 4, 48), (DW_OP_shr, -1, 60, 15), (DW_OP_shra, -16, 2, -4),
        (DW_OP_shl, 1, 64, 0), (DW_OP_shl, 1, -1, 0), (DW_OP_shr, -1, 64, 0),
        (DW_OP_shra, -16, 64, -1), (DW_OP_shra, -16, -1, -1),
        (DW_OP_eq, 4, 4, 1), (DW_OP_eq, 4, 5, 0), (DW_OP_ne, 4, 5, 1), (DW_OP_ne, 4, 4, 0),
        (DW_OP_lt, -1, 0, 1), (DW_OP_lt, 0, -1, 0), (DW_OP_le, 3, 3, 1), (DW_OP_le, 4, 3, 0),
        (DW_OP_gt, 1, -1, 1), (DW_OP_gt, -1, 1, 0), (DW_OP_ge, 3, 3, 1), (DW_OP_ge, -2, 3, 0),
    ]

    /// Comparisons and `shra` are signed; everything wraps; all shifts are unsigned amounts.
    @Test(arguments: pairs)
    func twoOperands(atom: Int, left: Int64, right: Int64, value: Int64) throws {
        let result = try evaluate([number(left), number(right), op(atom)])
        #expect(Int64(bitPattern: result.value) == value)
    }

    @Test func branches() throws {
        // 0: lit1; 1: bra +1 → 5; 4: lit2; 5: lit3
        let taken = [lit(1), op(DW_OP_bra, 1), lit(2), lit(3), op(DW_OP_nop)]
        #expect(try evaluate(taken + [op(DW_OP_drop), lit(9)]).value == 9)
        #expect(try evaluate([lit(8), lit(1), op(DW_OP_bra, 1), lit(2), op(DW_OP_nop)]).value == 8)
        #expect(try evaluate([lit(8), lit(0), op(DW_OP_bra, 1), lit(2), op(DW_OP_nop)]).value == 2)
        #expect(try evaluate([lit(8), op(DW_OP_skip, 1), lit(2), op(DW_OP_nop)]).value == 8)
        // 5 … 0 counted down: 0: lit5; 1: lit1; 2: minus; 3: dup; 4: bra -6 → 1; 7: nop
        let back = UInt64(bitPattern: -6)
        let loop = [
            lit(5), lit(1), op(DW_OP_minus), op(DW_OP_dup), op(DW_OP_bra, back), op(DW_OP_nop),
        ]
        #expect(try evaluate(loop).value == 0)
    }

    @Test func theKindsOfResult() throws {
        #expect(try evaluate([lit(4), op(DW_OP_stack_value)]).isValue)
        let register = try evaluate([op(DW_OP_reg5)])
        #expect(register.value == 0x100 && register.isValue)
        let other = try evaluate([op(DW_OP_regx, 5)])
        #expect(other.value == 0x100 && other.isValue)
        let frame = try evaluate([op(DW_OP_call_frame_cfa), lit(8), op(DW_OP_minus)], cfa: 0x7008)
        #expect(frame.value == 0x7000)
    }

    /// As linkers write them for PLT stubs: CFA = rsp + 8 + ((rip & 15) >= 11) * 8.
    @Test(arguments: [(0x1020, 8), (0x102A, 8), (0x102B, 16), (0x102F, 16)] as [(UInt64, UInt64)])
    func aStubsFrame(programCounter: UInt64, offset: UInt64) throws {
        let stub = [
            op(DW_OP_breg7, 8), op(DW_OP_const8u, programCounter), lit(15), op(DW_OP_and), lit(11),
            op(DW_OP_ge), lit(3), op(DW_OP_shl), op(DW_OP_plus),
        ]
        #expect(try evaluate(stub).value == 0x7000 + offset)
    }
}

/// What damaged tables may hold.
@Suite struct BadExpressionTests {
    private static let unsupported: [[Operation]] = [
        [], [op(DW_OP_plus)], [lit(1), op(DW_OP_plus)], [op(DW_OP_dup)], [op(DW_OP_drop)],
        [op(DW_OP_deref)], [lit(1), op(DW_OP_swap)], [lit(1), op(DW_OP_over)],
        [lit(1), op(DW_OP_pick, 1)], [lit(1), op(DW_OP_pick, .max)], [op(DW_OP_bra, 0)],
        [op(DW_OP_neg)], [op(DW_OP_not)], [op(DW_OP_plus_uconst, 1)], [op(DW_OP_stack_value)],
        [lit(1), lit(2), op(DW_OP_form_tls_address)], [lit(1), lit(2), op(0xFF)],
        [lit(1), lit(2), op(0)], [op(DW_OP_call_frame_cfa)],
        // Branches to nowhere: behind, before, into an operation, to the end.
        [lit(1), op(DW_OP_skip, 100), lit(2)], [lit(1), op(DW_OP_skip, 0xFFFF_FF00), lit(2)],
        [lit(1), op(DW_OP_skip, UInt64(bitPattern: -2)), lit(2)],
        // Without end: on the spot, and with a stack that grows.
        [lit(1), op(DW_OP_skip, UInt64(bitPattern: -3))],
        [lit(1), op(DW_OP_skip, UInt64(bitPattern: -4))],
        [lit(1), op(DW_OP_dup), op(DW_OP_bra, UInt64(bitPattern: -4)), lit(2)],
    ]

    @Test(arguments: unsupported)
    func hasNoValue(operations: [Operation]) {
        #expect(throws: ExpressionEvaluator.Failure.unsupported) { try evaluate(operations) }
    }

    @Test(arguments: [[lit(1)] + [Operation](repeating: op(DW_OP_dup), count: 5000)])
    func theStackIsBounded(operations: [Operation]) {
        #expect(throws: ExpressionEvaluator.Failure.unsupported) { try evaluate(operations) }
    }

    private static let unknown = [
        [op(DW_OP_breg0)], [op(DW_OP_reg3)], [op(DW_OP_bregx, 17)], [op(DW_OP_regx, 99)],
        [op(DW_OP_bregx, .max)], [op(DW_OP_bregx, 1 << 32)], [op(DW_OP_breg31)],
    ]

    @Test(arguments: unknown)
    func needsAnUnknownRegister(operations: [Operation]) {
        #expect(throws: ExpressionEvaluator.Failure.unknownRegister) { try evaluate(operations) }
    }

    private static let unreadable = [
        [lit(0), op(DW_OP_deref)], [number(-1), op(DW_OP_deref)],
        [op(DW_OP_breg7, 0x20), op(DW_OP_deref)], [op(DW_OP_breg7, 0x19), op(DW_OP_deref)],
        [op(DW_OP_breg7, UInt64(bitPattern: -1)), op(DW_OP_deref)],
        [op(DW_OP_breg7), op(DW_OP_deref_size, 0)], [op(DW_OP_breg7), op(DW_OP_deref_size, 9)],
        [op(DW_OP_breg7), op(DW_OP_deref_size, .max)],
        [op(DW_OP_breg7, 0x1F), op(DW_OP_deref_size, 2)],
    ]

    @Test(arguments: unreadable)
    func readsOutsideOfTheCopy(operations: [Operation]) {
        #expect(throws: ExpressionEvaluator.Failure.unreadable) { try evaluate(operations) }
    }

    /// Any order of any operations: an answer or a failure, soon.
    @Test func noise() {
        var random = SeededNumbers(seed: 23)
        for _ in 0..<3000 {
            let operations = (0..<Int.random(in: 1...40, using: &random)).map { _ in
                op(
                    Int.random(in: 0...255, using: &random),
                    [0, 1, 3, 8, 0x7000, .max, UInt64(bitPattern: -3), random.next()]
                        .randomElement(using: &random) ?? 0,
                    random.next())
            }
            _ = try? evaluate(operations, cfa: 0x7000)
        }
    }
}

import Architecture
import ELF
import ProfileModel

/// One row of a function's call frame information, with the parts that compact rules need: the
/// canonical frame address, and where the caller's frame pointer and the return address are.
struct UnwindRow {
    enum Frame: Equatable {
        case register(UInt64, Int64)
        /// Saved in memory at the frame pointer + offset: functions that realign their stack.
        case atFramePointer(Int64)
        /// As linkers describe their tables of stubs (PLT): see ``StubExpression``.
        case stub(pushedFrom: UInt64)
        case other
    }

    enum Place: Equatable {
        case unchanged
        case undefined
        /// Relative to the canonical frame address.
        case saved(Int64)
        /// Saved at the frame pointer + offset.
        case atFramePointer(Int64)
        case other
    }

    var frame = Frame.other
    private var framePointer = Place.unchanged
    private var returnAddress = Place.unchanged
    private var stackPointer = Place.unchanged

    mutating func set(_ register: UInt64, _ place: Place) {
        switch Int(truncatingIfNeeded: register) {
        case Registers.framePointer: framePointer = place
        case Registers.programCounter: returnAddress = place
        case Registers.stackPointer: stackPointer = place
        default: break
        }
    }

    mutating func save(_ register: UInt64, at offset: Int64) { set(register, .saved(offset)) }

    mutating func restore(_ register: UInt64, from initial: UnwindRow) {
        switch Int(truncatingIfNeeded: register) {
        case Registers.framePointer: framePointer = initial.framePointer
        case Registers.programCounter: returnAddress = initial.returnAddress
        case Registers.stackPointer: stackPointer = initial.stackPointer
        default: break
        }
    }

    /// The compact rule for an address in the row; `general` if it needs more.
    func rule(at address: UInt64) -> UnwindRule {
        if returnAddress == .undefined { return UnwindRule(.end) }
        guard returnAddress == .saved(CallingConvention.returnAddressOffset),
            stackPointer == .unchanged, var rule = frameRule(address)
        else { return UnwindRule(.general) }
        switch (framePointer, rule.kind) {
        case (.unchanged, _):
            return rule
        case (.saved(let offset), .fromStackPointer), (.saved(let offset), .fromFramePointer),
            (.atFramePointer(let offset), .fromSavedAddress):
            guard let narrow = Int16(exactly: offset), narrow != UnwindRule.unchanged else {
                return UnwindRule(.general)
            }
            rule.framePointerOffset = narrow
            return rule
        default:
            return UnwindRule(.general)
        }
    }

    private func frameRule(_ address: UInt64) -> UnwindRule? {
        let kind: UnwindRule.Kind
        let offset: Int64
        switch frame {
        case .register(UInt64(Registers.stackPointer), let distance):
            (kind, offset) = (.fromStackPointer, distance)
        case .register(UInt64(Registers.framePointer), let distance):
            (kind, offset) = (.fromFramePointer, distance)
        case .atFramePointer(let distance):
            (kind, offset) = (.fromSavedAddress, distance)
        case .stub(let first):
            (kind, offset) = (
                .fromStackPointer, StubExpression.frameSize(at: address, pushedFrom: first)
            )
        case .register, .other:
            return nil
        }
        guard let narrow = Int32(exactly: offset) else { return nil }
        var rule = UnwindRule(kind)
        rule.cfaOffset = narrow
        return rule
    }
}

extension UnwindRow.Frame {
    /// Recognises two expressions whose meaning needs no evaluation.
    init(expression: ByteCursor) {
        var stub = expression
        if let first = Self.stubBorder(&stub) {
            self = .stub(pushedFrom: first)
            return
        }
        // The frame pointer + offset; deref
        var saved = expression
        guard saved.byte() == Self.framePointerBased else {
            self = .other
            return
        }
        let offset = saved.signed()
        let isRead = saved.byte() == 0x06 && saved.isAtEnd && !saved.isBroken
        self = isRead ? .atFramePointer(offset) : .other
    }

    /// `DW_OP_breg` of the frame pointer.
    fileprivate static var framePointerBased: UInt8 { 0x70 + UInt8(Registers.framePointer) }

    /// nil: another expression.
    private static func stubBorder(_ cursor: inout ByteCursor) -> UInt64? {
        let begins = StubExpression.head.allSatisfy { cursor.byte() == $0 }
        let literal = cursor.byte()
        let ends = StubExpression.tail.allSatisfy { cursor.byte() == $0 }
        guard begins, ends, cursor.isAtEnd, !cursor.isBroken,
            StubExpression.literals.contains(literal)
        else { return nil }
        return UInt64(literal &- StubExpression.literals.lowerBound)
    }
}

extension UnwindRow.Place {
    /// The frame pointer + offset.
    init(expression: ByteCursor) {
        var cursor = expression
        guard cursor.byte() == UnwindRow.Frame.framePointerBased else {
            self = .other
            return
        }
        let offset = cursor.signed()
        self = cursor.isAtEnd && !cursor.isBroken ? .atFramePointer(offset) : .other
    }
}

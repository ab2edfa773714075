import Architecture
import CElfutils
import ELF
import Glibc
import GoTables
import ProfileModel

/// A module's call frame information. Our own reader handles `.eh_frame` where its rows give
/// compact rules; libdw handles the rest, and `.debug_frame`.
///
/// Unsafe code: libdw's handles are owned here and freed with the object. The operations that it
/// returns live as long as the frame that they belong to.
final class FrameTables {
    private let file: ELFFile
    private lazy var rows = file.rowTables()
    private lazy var ehFrame = dwarf_getcfi_elf(file.handle)
    private var hasAskedLibrary = false
    private var debugFrame: OpaquePointer?
    private var dwarf: OpaquePointer?
    private var hasLookedForDebugFrame = false
    private lazy var hasDebugFrame = [".debug_frame", ".zdebug_frame"].contains {
        file.index(ofSection: $0) != nil
    }
    private lazy var initSection = file.range(ofSection: ".init")
    private lazy var goFunctions = GoFunctionTable(in: file)
    private lazy var goEntries = GoEntries(file, goFunctions)
    private lazy var greenletEntries = GreenletEntries(file)
    private lazy var exitCalls = ExitCalls(file)
    /// The calls found before addresses: the same few are looked up again and again.
    private var calls: [UInt64: CallPattern] = [:]
    private static let mostCalls = 4096
    private lazy var window = CodeWindow(file)

    init(_ file: ELFFile) {
        self.file = file
    }

    deinit {
        if hasAskedLibrary, let ehFrame { dwarf_cfi_end(ehFrame) }
        if let dwarf { dwarf_end(dwarf) }
    }

    /// The compact rule for a program counter (at the module's own address).
    func rule(at address: UInt64) -> UnwindRule {
        if goEntries.contains(address) || greenletEntries.contains(address) {
            return UnwindRule(.end)
        }
        if goEntries.isSwitch(address &+ 1) { return UnwindRule(.beginning) }
        if goEntries.callsC(from: address), let rule = ruleOfCallToC(at: address) { return rule }
        switch rows?.answer(at: address) {
        case .rule(let rule):
            return rule
        case .signalFrame:
            return UnwindRule(isReturnFromSignal(address) ? .signalReturn : .general)
        case .notCovered where !hasDebugFrame:
            return ruleOfGo(at: address) ?? ruleFromCode(address)
        case .notCovered, .unknown, nil:
            return ruleOfLibrary(at: address) ?? ruleOfGo(at: address) ?? ruleFromCode(address)
        }
    }

    /// Like ``RowTables/harmlessEntry(around:)``.
    func harmlessEntry(around address: UInt64) -> UInt64? { rows?.harmlessEntry(around: address) }

    /// The compact rule from libdw's row for an address; nil if there is none.
    func ruleOfLibrary(at address: UInt64) -> UnwindRule? {
        withFrame(at: address) { frame in Self.compact(frame) }
    }

    /// The rule from Go's own table, which tells where the return address is. Go's code saves the
    /// frame pointer right below it as soon as it has a frame.
    private func ruleOfGo(at address: UInt64) -> UnwindRule? {
        guard let table = goFunctions, let function = table.function(at: address),
            let size = table.frameSize(of: function, at: address), size >= 0, size < 1 << 30,
            !isReturnFromSignal(address)
        else { return nil }
        var rule = UnwindRule(.fromStackPointer)
        rule.cfaOffset = size + 8
        if size > 0 { rule.framePointerOffset = -16 }
        return rule
    }

    /// The rule for Go's function that calls C.
    ///
    /// - Parameter address: the last byte of a call that has not returned.
    private func ruleOfCallToC(at address: UInt64) -> UnwindRule? {
        guard address > 0 else { return nil }
        let call = window.bytes(at: address &- 1, count: GoCallToC.callLength)
        let rest = window.bytes(at: address &+ 1, count: GoCallToC.restLength)
        switch GoCallToC(call: call, rest: rest) {
        case nil: return nil
        case .onOtherStack: return UnwindRule(.end)
        case .onSameStack(let offset):
            var rule = UnwindRule(.fromSavedStackPointer)
            rule.cfaOffset = offset
            return rule
        }
    }

    private func isReturnFromSignal(_ address: UInt64) -> Bool {
        isSignalReturn(address) || isSignalReturn(address &+ 1)
    }

    /// The rule that follows from the instructions themselves where tables are missing.
    private func ruleFromCode(_ address: UInt64) -> UnwindRule {
        if isReturnFromSignal(address) { return UnwindRule(.signalReturn) }
        if isBehindSystemCall(address) { return UnwindRule(.afterSystemCall) }
        if isEntryFunction(address) { return UnwindRule(.end) }
        return ruleInInit(address) ?? UnwindRule(.frameRecord)
    }

    /// - Parameter address: the last byte of the call that has not returned.
    private func isEntryFunction(_ address: UInt64) -> Bool {
        let next = address &+ 1
        guard let target = ExitCalls.target(behind: next, window.bytes), isBehindCall(next) else {
            return false
        }
        return exitCalls.contains(target, from: address)
    }

    private func isBehindSystemCall(_ address: UInt64) -> Bool {
        let length = CodeBytes.systemCall.count
        guard address >= UInt64(length) else { return false }
        return window.bytes(at: address &- UInt64(length), count: length) == CodeBytes.systemCall
    }

    /// A handler returns to the first byte of this code, so the byte before is looked up.
    private func isSignalReturn(_ address: UInt64) -> Bool {
        SystemCallInstruction.signalReturns.contains {
            window.bytes(at: address, count: $0.count) == $0
        }
    }

    /// The `_init` of crti.o has no tables.
    private func ruleInInit(_ address: UInt64) -> UnwindRule? {
        guard let section = initSection, section.contains(address),
            let head = window.bytes(at: section.lowerBound, count: InitFunction.headLength),
            let function = InitFunction(head: head)
        else { return nil }
        var rule = UnwindRule(.fromStackPointer)
        rule.cfaOffset = function.frameSize(
            at: Int(address &- section.lowerBound), code: window.bytes(at: address, count: 1))
        return rule
    }

    /// True if the instruction before an address is a call.
    func isBehindCall(_ address: UInt64) -> Bool { !call(before: address).isEmpty }

    /// True if there is code before an address, and it does not end with a call.
    func isBehindOtherCode(_ address: UInt64) -> Bool {
        guard address >= UInt64(CallPattern.length) else { return false }
        let start = address &- UInt64(CallPattern.length)
        return window.bytes(at: start, count: CallPattern.length) != nil && !isBehindCall(address)
    }

    /// Where the function that holds an address begins, by its entry in `.eh_frame`.
    func functionStart(around address: UInt64) -> UInt64? {
        rows?.functionStart(around: address)
    }

    /// See ``CallSearch``.
    func returnAddresses(ofCallsTo function: UInt64) -> [UInt64]? {
        callSearch.returnAddresses(ofCallsTo: function)
    }
    private lazy var callSearch = CallSearch(file)
    /// Whether functions stay in themselves, as found by ``isBehindCallOfKnown(_:)``.
    private var staying: [UInt64: Bool] = [:]

    enum Likelihood {
        case isImpossible
        /// It is a call through a pointer, or by way of the dynamic linker.
        case isPossible
        case isCertain
    }

    /// Whether the instruction before an address is a call of the function.
    func call(of function: UInt64, before address: UInt64) -> Likelihood {
        let call = call(before: address)
        let length = DirectCall.length
        if call.contains(.direct),
            let code = window.bytes(at: address &- UInt64(length), count: length),
            let target = DirectCall.target(endOf: code, at: address)
        {
            if target == function { return .isCertain }
            if JumpStub.begins(file.mapped(at: target, count: JumpStub.longest)) {
                return .isPossible
            }
        }
        return call.contains(.indirect) ? .isPossible : .isImpossible
    }

    /// True if the instruction before an address calls a function that has tables of its own and
    /// does not leave by a jump: then it cannot have led to code without tables.
    func isBehindCallOfKnown(_ address: UInt64) -> Bool {
        let length = DirectCall.length
        guard call(before: address) == .direct,
            let code = window.bytes(at: address &- UInt64(length), count: length),
            let target = DirectCall.target(endOf: code, at: address)
        else { return false }
        if let known = staying[target] { return known }
        if staying.count >= Self.mostCalls { staying.removeAll(keepingCapacity: true) }
        let stays = functionStart(around: target) == target && !leavesByJump(target)
        staying[target] = stays
        return stays
    }

    /// True if a function has a jump through a pointer, or out of itself. Bytes within other
    /// instructions may look like such a jump; most of them are the ends of negative distances.
    private func leavesByJump(_ start: UInt64) -> Bool {
        let code = file.mapped(at: start, count: Self.longestFunction)
        // In a longer function we cannot know.
        guard
            let length = code.indices.first(where: {
                functionStart(around: start &+ UInt64($0)) != start
            })
        else { return true }
        let own = code[..<length]
        return own.indices.contains { index in
            switch own[index] {
            case 0xFF:
                return index + 1 < length && own[index + 1] >> 3 & 7 == 4
                    && (index == 0 || own[index - 1] != 0xFF)
            case CodeBytes.jump:
                let distance: Int32? = own.littleEndian(at: index + 1)
                return distance.map { !own.indices.contains(index + 5 + Int($0)) } ?? false
            default: return false
            }
        }
    }

    private static let longestFunction = 4096

    /// True if other files can call the function by its name.
    func exports(_ function: UInt64) -> Bool { exported.contains(function) }
    private lazy var exported: Set<UInt64> = {
        var starts: Set<UInt64> = []
        file.forEachFunction(isDynamic: true) { _, range in starts.insert(range.lowerBound) }
        return starts
    }()

    /// True if the instruction before an address is a call through a pointer.
    func isBehindIndirectCall(_ address: UInt64) -> Bool {
        call(before: address).contains(.indirect)
    }

    private func call(before address: UInt64) -> CallPattern {
        if let known = calls[address] { return known }
        let answer = readCall(before: address)
        if calls.count >= Self.mostCalls { calls.removeAll(keepingCapacity: true) }
        calls[address] = answer
        return answer
    }

    private func readCall(before address: UInt64) -> CallPattern {
        let length = CallPattern.length
        guard address >= UInt64(length),
            let code = window.bytes(at: address &- UInt64(length), count: length)
        else { return [] }
        return CallPattern(endOf: code)
    }

    /// CPython's trampoline, if the file is its interpreter.
    private(set) lazy var trampoline = PythonTrampoline(file)

    /// Steps from a frame to its caller by everything in the tables.
    func step(
        at address: UInt64, registers: Registers, memory: StackMemory
    ) -> GeneralStep? {
        withFrame(at: address) { frame in
            Self.step(frame, registers: registers, memory: memory)
        }
    }

    private func withFrame<Value>(at address: UInt64, _ body: (OpaquePointer) -> Value) -> Value? {
        hasAskedLibrary = true
        if let frame = frame(at: address, in: ehFrame) ?? frame(at: address, in: debugTables()) {
            defer { free(UnsafeMutableRawPointer(frame)) }
            return body(frame)
        }
        return nil
    }

    private func frame(at address: UInt64, in tables: OpaquePointer?) -> OpaquePointer? {
        guard let tables else { return nil }
        var frame: OpaquePointer?
        return dwarf_cfi_addrframe(tables, address, &frame) == 0 ? frame : nil
    }

    /// Opened only on demand: few modules have the section, and DWARF is large.
    private func debugTables() -> OpaquePointer? {
        if !hasLookedForDebugFrame {
            hasLookedForDebugFrame = true
            if hasDebugFrame {
                dwarf = dwarf_begin_elf(file.handle, DWARF_C_READ, nil)
                if let dwarf { debugFrame = dwarf_getcfi(dwarf) }
            }
        }
        return debugFrame
    }

    // MARK: Rules

    /// Where a register was saved, according to libdw.
    private enum Location {
        case unchanged
        case undefined
        case expression(UnsafeBufferPointer<Dwarf_Op>)
    }

    private static func withLocation<Value>(
        of register: Int, in frame: OpaquePointer, _ body: (Location) -> Value
    ) -> Value? {
        withUnsafeTemporaryAllocation(of: Dwarf_Op.self, capacity: 3) { scratch in
            var operations: UnsafeMutablePointer<Dwarf_Op>?
            var count = 0
            guard let base = scratch.baseAddress,
                dwarf_frame_register(frame, Int32(register), base, &operations, &count) == 0
            else { return nil }
            // See libdw.h: no operations mean "undefined", or "same value" if the pointer is null.
            if count == 0 { return body(operations == nil ? .unchanged : .undefined) }
            return body(.expression(UnsafeBufferPointer(start: operations, count: count)))
        }
    }

    /// `call_frame_cfa` or `call_frame_cfa; plus_uconst n`: saved in memory at CFA + n.
    private static func offset(_ operations: UnsafeBufferPointer<Dwarf_Op>) -> Int16? {
        guard let first = operations.first, Int(first.atom) == DW_OP_call_frame_cfa else {
            return nil
        }
        if operations.count == 1 { return 0 }
        guard operations.count == 2, Int(operations[1].atom) == DW_OP_plus_uconst else {
            return nil
        }
        return Int16(exactly: Int64(bitPattern: operations[1].number))
    }

    private static func compact(_ frame: OpaquePointer) -> UnwindRule {
        var isSignalFrame = false
        let column = dwarf_frame_info(frame, nil, nil, &isSignalFrame)
        guard column == Int32(Registers.programCounter), !isSignalFrame else {
            return UnwindRule(.general)
        }
        let returnAddress = withLocation(
            of: Registers.programCounter, in: frame
        ) { location -> UnwindRule.Kind in
            switch location {
            case .undefined: .end
            case .expression(let operations) where offset(operations) == -8: .fromStackPointer
            default: .general
            }
        }
        guard returnAddress == .fromStackPointer else {
            return UnwindRule(returnAddress ?? .general)
        }
        guard var rule = canonicalFrame(frame) else { return UnwindRule(.general) }
        let hasSavedFramePointer = withLocation(
            of: Registers.framePointer, in: frame
        ) { location -> Bool in
            switch location {
            case .unchanged: return true
            case .undefined: return false
            case .expression(let operations):
                guard let offset = offset(operations) else { return false }
                rule.framePointerOffset = offset
                return true
            }
        }
        return hasSavedFramePointer == true ? rule : UnwindRule(.general)
    }

    private static func canonicalFrame(_ frame: OpaquePointer) -> UnwindRule? {
        var operations: UnsafeMutablePointer<Dwarf_Op>?
        var count = 0
        guard dwarf_frame_cfa(frame, &operations, &count) == 0, count == 1, let operations else {
            return nil
        }
        let number: UInt64
        let offset: UInt64
        switch Int(operations[0].atom) {
        case DW_OP_bregx: (number, offset) = (operations[0].number, operations[0].number2)
        case DW_OP_breg0...DW_OP_breg31:
            number = UInt64(Int(operations[0].atom) - DW_OP_breg0)
            offset = operations[0].number
        default: return nil
        }
        guard let compactOffset = Int32(exactly: Int64(bitPattern: offset)) else { return nil }
        var rule: UnwindRule
        switch Int(truncatingIfNeeded: number) {
        case Registers.stackPointer: rule = UnwindRule(.fromStackPointer)
        case Registers.framePointer: rule = UnwindRule(.fromFramePointer)
        default: return nil
        }
        rule.cfaOffset = compactOffset
        return rule
    }

    // MARK: General steps

    private static func step(
        _ frame: OpaquePointer, registers: Registers, memory: StackMemory
    ) -> GeneralStep {
        var isSignalFrame = false
        guard
            dwarf_frame_info(frame, nil, nil, &isSignalFrame) == Int32(Registers.programCounter)
        else { return .failed(.noRule) }
        var operations: UnsafeMutablePointer<Dwarf_Op>?
        var count = 0
        guard dwarf_frame_cfa(frame, &operations, &count) == 0, count > 0 else {
            return .failed(.noRule)
        }
        do throws(ExpressionEvaluator.Failure) {
            let expression = UnsafeBufferPointer(start: operations, count: count)
            let cfa = try ExpressionEvaluator(registers: registers, memory: memory, cfa: nil)
                .evaluate(expression).value
            let evaluator = ExpressionEvaluator(registers: registers, memory: memory, cfa: cfa)
            var caller = Registers()
            var isEnd = false
            for number in 0..<Registers.count {
                let result = withLocation(of: number, in: frame) { location in
                    recover(number, location, registers, evaluator, isEnd: &isEnd)
                }
                if isEnd { return .end }
                caller[number] = try result?.get()
            }
            // The caller's stack pointer *is* the frame's address unless the tables say otherwise.
            if caller[Registers.stackPointer] == nil { caller[Registers.stackPointer] = cfa }
            return .caller(caller, isSignalFrame: isSignalFrame)
        } catch {
            return .failed(truncation(error, memory))
        }
    }

    /// A register's value in the caller. It fails only if the walk cannot continue without the
    /// value.
    private static func recover(
        _ number: Int, _ location: Location, _ registers: Registers,
        _ evaluator: ExpressionEvaluator, isEnd: inout Bool
    ) -> Result<UInt64?, ExpressionEvaluator.Failure> {
        switch location {
        case .unchanged:
            return .success(registers[number])
        case .undefined:
            if number == Registers.unlistedPreserved { return .success(registers[number]) }
            isEnd = number == Registers.programCounter
            return .success(nil)
        case .expression(let operations):
            do throws(ExpressionEvaluator.Failure) {
                let (value, isValue) = try evaluator.evaluate(operations)
                if isValue { return .success(value) }
                if isAboveItsFrame(value, operations, evaluator) {
                    return .success(registers[number])
                }
                if let word = evaluator.memory.word(at: value) { return .success(word) }
                // The value was popped already: see `Walk.restoreFramePointer`.
                if number != Registers.programCounter, value < registers.stackPointer {
                    return .success(registers[number])
                }
                throw .unreadable
            } catch {
                let isNeeded =
                    number == Registers.programCounter || number == Registers.stackPointer
                return isNeeded ? .failure(error) : .success(nil)
            }
        }
    }

    /// True if a place relative to the frame pointer is outside the frame. Then the frame pointer
    /// is the caller's again, and so are all saved registers. GCC's tables do not say this between
    /// `leave` and `ret` of functions that realign their stack.
    private static func isAboveItsFrame(
        _ place: UInt64, _ operations: UnsafeBufferPointer<Dwarf_Op>,
        _ evaluator: ExpressionEvaluator
    ) -> Bool {
        guard let cfa = evaluator.cfa, place >= cfa else { return false }
        return operations.contains { Int($0.atom) == DW_OP_breg0 + Registers.framePointer }
    }

    private static func truncation(
        _ failure: ExpressionEvaluator.Failure, _ memory: StackMemory
    ) -> Truncation {
        switch failure {
        case .unknownRegister: .unknownRegister
        case .unreadable: .stackLimit
        case .unsupported: .noRule
        }
    }
}

/// The result of a step by the full tables.
enum GeneralStep {
    /// `isSignalFrame`: the caller was interrupted, so its address is that of an instruction.
    case caller(Registers, isSignalFrame: Bool)
    case end
    /// The tables say nothing: follow a frame record, if there is a valid one.
    case frameRecord
    case failed(Truncation)
}

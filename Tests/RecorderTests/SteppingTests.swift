import ProfileModel
import Testing

@testable import Sampler

/// Unwinds at every single instruction of a program's work: prologues, epilogues, the stubs of
/// the linkage table, the dynamic linker's resolver, the vdso. What the stack must be is known
/// from the calls and returns that were stepped over.
@Suite(.enabled(if: Tools.has("gcc"), "needs gcc")) struct SteppingTests {
    private struct Result: Sendable {
        var steps = 0
        var calls = 0
        var deepest = 0
        var reachedEnd = false
        /// Wrong stacks, by what was expected and what was found.
        var failures: [String] = []
        var failureCount = 0
    }

    private static let programs: [[String]] = [
        ["-O2", "-fomit-frame-pointer", "-Wl,-z,lazy"],
        ["-O2", "-fcf-protection", "-Wl,-z,lazy,-z,ibtplt"],
        ["-O0", "-Wl,-z,now"],
        ["-O1", "-static", "-no-pie", "-fno-pie"],
    ]

    @Test(arguments: programs)
    func everyInstruction(options: [String]) throws {
        let scratch = try Scratch()
        let program = try scratch.compileSubject(options)
        let line = try scratch.printed(by: ["nm", program]).first { $0.hasSuffix(" T done") }
        let end = try #require(line?.split(separator: " ").first.flatMap { UInt64($0, radix: 16) })
        let subject = try Subject(program, "work")
        try #require(subject.waitUntilReading())
        let result = try #require(
            onTracerThread { Self.follow(subject, until: end, limit: 60_000) })
        #expect(result.reachedEnd)
        #expect(result.steps > 1000)
        #expect(result.calls > 20)
        #expect(result.deepest > 4)
        #expect(
            result.failureCount == 0,
            "\(result.failureCount) of \(result.steps):\n\(result.failures.joined(separator: "\n"))"
        )
    }

    private static func follow(_ subject: Subject, until end: UInt64, limit: Int) -> Result {
        var result = Result()
        let tracee = Tracee(tid: subject.pid)
        guard (try? LiveUnwinder.stop(tracee)) != nil, var registers = try? tracee.registers()
        else { return result }
        // It waits still, so that it goes on from there with the first step.
        subject.send(times: 50)
        let unwinder = LiveUnwinder(pid: subject.pid)
        let last = end &+ (unwinder.bias(ofModule: "/subject") ?? 0)
        let first = unwinder.unwind(registers)
        guard first.truncation == nil else {
            result.failures.append("\(first)")
            result.failureCount += 1
            return result
        }
        // Outermost first; what lies above the first position.
        var callers = Array(first.addresses.dropFirst().reversed())
        while result.steps < limit {
            let before = registers
            let code = unwinder.bytes(at: before.programCounter, count: 16)
            guard (try? LiveUnwinder.step(tracee)) == true,
                let after = try? tracee.registers()
            else {
                result.failures.append("no step at \(String(before.programCounter, radix: 16))")
                result.failureCount += 1
                return result
            }
            registers = after
            result.steps += 1
            switch Transfer(code) {
            case .call(let length)
            where after.stackPointer == before.stackPointer &- 8:
                callers.append(before.programCounter &+ UInt64(length))
                result.calls += 1
            case .return where after.stackPointer != before.stackPointer:
                callers.removeLast()
            default: break
            }
            result.deepest = max(result.deepest, callers.count)
            if after.programCounter == last {
                result.reachedEnd = true
                return result
            }
            let found = unwinder.unwind(after)
            let wanted = [after.programCounter] + callers.reversed()
            if found.truncation != nil || found.addresses != wanted {
                note(found, wanted, unwinder.bytes(at: after.programCounter, count: 8), &result)
            }
        }
        return result
    }

    private static func note(
        _ found: LiveUnwinder.Stack, _ wanted: [UInt64], _ code: [UInt8], _ result: inout Result
    ) {
        result.failureCount += 1
        guard result.failures.count < 8 else { return }
        func hex(_ addresses: [UInt64]) -> String {
            addresses.map { String($0, radix: 16) }.joined(separator: " ")
        }
        result.failures.append(
            "\(found.truncation.map(\.label) ?? "wrong") at \(hex(code.map(UInt64.init))):"
                + " wanted \(hex(wanted)), found \(hex(found.addresses))")
    }
}

/// Whether an instruction (x86-64) calls or returns; see the Intel SDM, CALL and RET.
private enum Transfer {
    case call(length: Int)
    case `return`
    case other

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

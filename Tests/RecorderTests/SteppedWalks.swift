import Architecture
import Glibc
import ProfileModel
import Unwind

@testable import ProcessIO
@testable import Sampler

/// A program's work, followed step by step, and both engines' results for each of its stacks.
struct SteppedWalks: Sendable {
    /// The ways in which libunwind's result may be wrong. Our walk's may not be.
    enum Disagreement: Hashable {
        /// It ends where the tables name a place that is popped, below the copied stack.
        case popped
        /// It leaves out frames near a function's end, where the tables have the frame pointer still saved.
        case restored
        /// It ends, or goes astray, at a leaf without tables: the stubs of a static program.
        case uncovered
    }

    struct Failure {
        var message: String
        fileprivate var stack: [UInt64]
    }

    private(set) var truth = CallTruth(callers: EmptyCollection<UInt64>())
    private(set) var steps = 0
    /// Of which stacks were looked at: each once for a program counter, stack and frame pointer.
    private(set) var checked = 0
    private(set) var deepest = 0
    private(set) var reachedEnd = false
    /// Wrong stacks of our walk by where they were taken.
    private(set) var failures: [UInt64: Failure] = [:]
    /// How often a stack was that of a jump's or an exception's destination just before its
    /// arrival.
    private(set) var arrivals = 0
    /// How often calls' return addresses had been overwritten: nothing was checked.
    private(set) var rewritten = 0
    private(set) var disagreements: [Disagreement: Int] = [:]
    /// Stacks of libunwind's that are wrong in no known way.
    private(set) var unexplained: [String] = []

    private var seen: Set<Position> = []
    private var codes: [UInt64: [UInt8]] = [:]

    /// Where in its work a thread is: loops come there again and again.
    private struct Position: Hashable {
        var programCounter: UInt64
        var stackPointer: UInt64
        var framePointer: UInt64?

        init(_ registers: Registers) {
            programCounter = registers.programCounter
            stackPointer = registers.stackPointer
            framePointer = registers.framePointer
        }
    }

    /// - Parameters:
    ///   - subject: it waits for input, and is given some.
    ///   - end: an address of its own, where the work is done.
    init(of subject: Subject, until end: UInt64, limit: Int) {
        let tracee = Tracee(tid: subject.pid)
        guard (try? LiveUnwinder.stop(tracee)) != nil, var registers = try? tracee.registers()
        else { return }
        // It still waits, so it goes on from there with the first step.
        subject.send(times: 50)
        let own = LiveUnwinder(pid: subject.pid)
        let library = LiveUnwinder(pid: subject.pid, by: Unwinder(engine: .libunwind))
        let last = end &+ (own.bias(ofModule: "/subject") ?? 0)
        truth = CallTruth(callers: own.unwind(registers).addresses.dropFirst())
        while steps < limit {
            guard let after = step(tracee, from: registers, own) else {
                fail(registers, with: nil, wanted: truth.stack(at: registers), "no step")
                return
            }
            registers = after
            steps += 1
            deepest = max(deepest, truth.depth)
            if registers.programCounter == last {
                reachedEnd = true
                return
            }
            if seen.insert(Position(registers)).inserted { check(registers, own, library) }
        }
    }

    /// - Returns: the registers behind the instruction; nil: the program stopped for something else.
    private mutating func step(
        _ tracee: Tracee, from before: Registers, _ reader: borrowing LiveUnwinder
    ) -> Registers? {
        guard let signal = try? LiveUnwinder.step(tracee), var after = try? tracee.registers()
        else { return nil }
        let wasLeaving = truth.isLeaving
        truth.follow(code(before, reader), from: before, to: after)
        if wasLeaving || truth.isLeaving { excuseArrivals() }
        if signal != SIGTRAP {
            guard (try? LiveUnwinder.step(tracee, delivering: signal)) == SIGTRAP,
                let handler = try? tracee.registers()
            else { return nil }
            truth.enterHandler(
                from: after, to: handler, trampoline: reader.word(at: handler.stackPointer))
            after = handler
        }
        truth.expectReturn(
            code(after, reader), at: after.stackPointer, to: reader.word(at: after.stackPointer))
        return after
    }

    /// The next instruction, and the bytes behind it.
    private mutating func code(
        _ registers: Registers, _ reader: borrowing LiveUnwinder
    ) -> [UInt8] {
        let address = registers.programCounter
        if let known = codes[address] { return known }
        let code = reader.bytes(at: address, count: 16)
        codes[address] = code
        return code
    }

    private mutating func check(
        _ registers: Registers, _ own: borrowing LiveUnwinder, _ library: borrowing LiveUnwinder
    ) {
        checked += 1
        let recorders = own.snapshot(registers)
        let perfs = own.snapshot(registers, redZone: 0)
        guard truth.isIntact(in: perfs.stack) else {
            rewritten += 1
            return
        }
        let wanted = truth.stack(at: registers)
        for found in [own.unwind(recorders), own.unwind(perfs)] where found != wanted {
            fail(registers, with: found, wanted: wanted, "ours")
            return
        }
        compare(library.unwind(recorders), registers, wanted, hasRedZone: true)
        compare(library.unwind(perfs), registers, wanted, hasRedZone: false)
    }

    private mutating func compare(
        _ found: LiveUnwinder.Stack, _ registers: Registers, _ wanted: LiveUnwinder.Stack,
        hasRedZone: Bool
    ) {
        if found == wanted { return }
        let code = codes[registers.programCounter] ?? []
        if !hasRedZone, found.truncation == .stackLimit,
            wanted.addresses.starts(with: found.addresses)
        {
            disagreements[.popped, default: 0] += 1
        } else if found.truncation != nil, code.starts(with: Self.stub) {
            disagreements[.uncovered, default: 0] += 1
        } else if code.contains(Self.returning), found.truncation == nil,
            found.addresses.count < wanted.addresses.count,
            found.addresses.prefix(2) == wanted.addresses.prefix(2)
        {
            disagreements[.restored, default: 0] += 1
        } else {
            unexplained.append(told(found, wanted, registers))
        }
    }

    /// `ret`
    private static let returning: UInt8 = 0xC3
    /// `jmp` to the address in a word of the program.
    private static let stub: [UInt8] = [0xFF, 0x25]

    private mutating func fail(
        _ registers: Registers, with found: LiveUnwinder.Stack?, wanted: LiveUnwinder.Stack,
        _ what: String
    ) {
        let message = found.map { told($0, wanted, registers) } ?? ""
        failures[registers.programCounter] = Failure(
            message: "\(what): \(message)", stack: found?.addresses ?? [])
    }

    /// Excuses stacks that are known to be right once a jump has been made.
    private mutating func excuseArrivals() {
        let count = failures.count
        failures = failures.filter { !truth.isOfArrival($0.value.stack) }
        arrivals += count - failures.count
    }

    private func told(
        _ found: LiveUnwinder.Stack, _ wanted: LiveUnwinder.Stack, _ registers: Registers
    ) -> String {
        func hex(_ addresses: [UInt64]) -> String {
            addresses.map { String($0, radix: 16) }.joined(separator: " ")
        }
        let code = codes[registers.programCounter] ?? []
        return "\(found.truncation.map(\.label) ?? "wrong") at \(hex(code.map(UInt64.init))):"
            + " wanted \(hex(wanted.addresses)) \(wanted.instructions), found \(hex(found.addresses)) \(found.instructions)"
    }
}

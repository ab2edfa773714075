import Architecture
import ProcessIO
import ProfileModel

/// A record of a thread's system calls: whether the thread computes, or works within calls.
///
/// Some calls return less than the program asked for once a signal or a stop is pending: reads of
/// `/dev/zero` and `/dev/urandom`, getrandom(2), sendfile(2), large writes to pipes. No program
/// counts on that where it never happens without us. So a thread gets neither until the kernel's
/// events, which no call notices, have shown it computing for a while; and no more, once a signal
/// or a stop was found to have met a call. Page faults, and calls that end the same whatever signal
/// comes (``RestartingCalls/isIndifferent(_:)``), are as good as its own code.
struct CallHistory: Hashable, Sendable {
    private var streak = 0
    /// When a call was last seen to have ended early, as it seems, by our doing.
    private var cut: MonotonicTime?

    /// So many looks in a row that found it in no call that a signal could cut short.
    static let enough = 16

    var isComputing: Bool { streak >= Self.enough }

    mutating func sawCode() { streak = min(streak + 1, Self.enough) }
    mutating func sawCall() { streak = 0 }

    /// A signal's handler, a stop, or an event in the kernel's code shows where the thread was.
    ///
    /// - Parameter code: the program's bytes from an address on, as many as are asked for; none
    ///   where they cannot be read.
    mutating func saw(
        _ registers: Registers, at now: MonotonicTime, code: (UInt64, Int) -> [UInt8]
    ) {
        // The instruction for system calls leaves its return address in a register; but not on all
        // processors, and the code there may be unreadable.
        let counter = registers.programCounter
        let instruction = SystemCallInstruction.ending(at: counter, code: code)
        guard registers[Registers.callReturn] == counter || instruction != nil else {
            return sawCode()
        }
        if Self.isCutShort(registers, instruction?.number) {
            cut = now
        } else if let number = instruction?.number, RestartingCalls.isIndifferent(number) {
            return sawCode()
        }
        sawCall()
    }

    /// For use where no events show what the thread does. A thread that has made such a call once
    /// will make more, and is left alone for a while.
    func mayMeetLongCall(at now: MonotonicTime) -> Bool {
        cut.map { now - $0 < Self.memory } ?? false
    }

    static let memory = TimeSpan.milliseconds(1000)

    /// Whether a call has just returned less than the program asked for.
    ///
    /// - Parameter number: the call's; nil: unknown.
    private static func isCutShort(_ registers: Registers, _ number: Int32?) -> Bool {
        let call = number.flatMap { SystemCall(rawValue: $0) }
        guard let got = registers[Registers.result], got >= 4096,
            call.map({ !reading.contains($0) }) ?? true, let wanted = wanted(by: call, registers)
        else { return false }
        // A larger number is an address.
        return got < wanted && wanted <= SystemCall.mostBytes
    }

    /// These return the data that is available, up to a file's end. For files without an end the
    /// rest is fetched (``FillingCall``).
    private static let reading: Set<SystemCall> = [.read, .recvfrom, .recvmsg, .getdents64]

    /// How much was asked for: as a rule the third argument; for getrandom(2) the second, because
    /// its third one is flags.
    private static func wanted(by call: SystemCall?, _ registers: Registers) -> UInt64? {
        switch call {
        case .sendfile: return registers.argument(3)
        case .copy_file_range, .splice: return registers.argument(4)
        default:
            guard let third = registers.argument(2) else { return nil }
            return third < 8 ? registers.argument(1) : third
        }
    }
}

import Architecture
import CAgent
import CSystem
import Glibc
import ProfileModel
import System

/// A call of a stopped thread that moves data, and that the stop has cut short. The thread makes the rest
/// in our code (`CAgent/rest.h`), and comes back with the sum.
struct RestOfCall {
    /// What goes onto the thread's stack, at its stack pointer then.
    private var words: [UInt64] = []
    /// The call's parts that are left, and where they go.
    private var parts: (words: [UInt64], address: UInt64) = ([], 0)
    private var registers: Registers

    /// How many parts are kept at most, as in our code.
    private static let mostParts: UInt64 = 32

    /// nil: another call, or one that moved all that it wanted.
    ///
    /// - Parameters:
    ///   - number: the call's, as the stop shows it.
    ///   - area: where our code begins in the program.
    init?(_ number: UInt32, of tid: Int32, _ registers: Registers, area: UInt64) {
        guard let call = SystemCall(rawValue: Int32(bitPattern: number)),
            let place = Self.length(of: call), let length = registers.argument(place),
            let moved = registers[Registers.result], let start = registers.argument(1), moved > 0,
            length <= SystemCall.mostBytes, Self.isCutShort(call, of: tid, registers)
        else { return nil }
        self.registers = registers
        let memory = TargetMemory(pid: tid)
        let isAgain = registers.programCounter == area &+ AreaCode.restMade
        var pointer = registers.stackPointer
        if !isAgain { pointer &-= UInt64(CallingConvention.redZone) }
        var (rest, begin) = (length &- moved, start &+ moved)
        if call == .writev || call == .readv {
            guard length <= Self.mostParts,
                let left = Self.parts(memory, at: start, count: Int(length), behind: moved)
            else { return nil }
            rest = UInt64(left.count / 2)
            if !isAgain { pointer &-= UInt64(8 * left.count) }
            begin = isAgain ? start &+ 16 * (length - rest) : pointer
            parts = (left, begin)
        } else if moved >= length {
            return nil
        }
        if isAgain {
            // Its rest was cut short, too.
            guard let before = memory.word(at: pointer) else { return nil }
            words = [before &+ moved]
        } else {
            let saved = AreaCode.restRegisters.compactMap { registers[$0] }
            guard saved.count == AreaCode.restRegisters.count else { return nil }
            words =
                [moved] + saved + [
                    registers.programCounter, UInt64(number), registers.stackPointer,
                ]
            pointer &-= UInt64(8 * words.count)
        }
        self.registers[Registers.stackPointer] = pointer
        self.registers[RegisterOrder.arguments[place]] = rest
        // The kernel counts on in the places that the others have for it.
        if place == 2 { self.registers[RegisterOrder.arguments[1]] = begin }
        self.registers[Registers.result] = UInt64(number)
        self.registers[Registers.programCounter] = area &+ AreaCode.rest
    }

    /// A call's parts (struct iovec) that are left; nil: none are.
    private static func parts(
        _ memory: TargetMemory, at start: UInt64, count: Int, behind moved: UInt64
    ) -> [UInt64]? {
        let bytes = memory.read(at: start, count: 16 * count)
        var left = stride(from: 0, to: 16 * count, by: 8).compactMap {
            bytes.littleEndianWord(at: $0)
        }
        guard left.count == 2 * count else { return nil }
        var moved = moved
        while left.count >= 2, moved >= left[1] {
            moved -= left[1]
            left.removeFirst(2)
        }
        guard left.count >= 2 else { return nil }
        left[0] &+= moved
        left[1] -= moved
        return left
    }

    /// Has the stopped thread make it when it resumes.
    func lead(_ tid: Int32) throws(SystemError) {
        for (words, start) in [(words, registers.stackPointer), parts] {
            for (index, word) in words.enumerated() {
                try check(
                    fl_ptrace_poke(tid, start &+ UInt64(8 * index), word),
                    "writing to thread \(tid)'s stack")
            }
        }
        var values = (0..<Registers.count).map { registers[$0] ?? 0 }
        try check(
            fl_ptrace_set_registers(tid, &values), "setting thread \(tid)'s registers")
    }

    /// Which argument is its length, or says how many parts it has.
    private static func length(of call: SystemCall) -> Int? {
        switch call {
        case .write, .sendto, .writev, .readv: 2
        case .sendfile: 3
        case .copy_file_range: 4
        default: nil
        }
    }

    /// Whether a stop cuts the call short with this file, as its first argument, and nothing else does for
    /// which the call would go on or wait.
    private static func isCutShort(
        _ call: SystemCall, of tid: Int32, _ registers: Registers
    ) -> Bool {
        if call == .copy_file_range { return true }
        var file = fl_file()
        guard let first = registers.argument(0),
            let descriptor = Int32(exactly: first & 0xFFFF_FFFF),
            fl_known_file(AT_FDCWD, "/proc/\(tid)/fd/\(descriptor)", &file) == 0
        else { return false }
        let (isPipe, isSocket) = (file.mode & S_IFMT == S_IFIFO, file.mode & S_IFMT == S_IFSOCK)
        return switch call {
        case .readv: fl_is_endless(file.mode, file.device) == 1
        // It gives a pipe what there is room for.
        case .sendfile: !isPipe
        // Writes to other files move all.
        default: isPipe || isSocket
        }
    }
}

extension AreaCode {
    /// What ``fl_rest`` keeps of the registers, in its order.
    static let restRegisters = [
        RegisterOrder.arguments[1], RegisterOrder.arguments[2], RegisterOrder.arguments[3],
        RegisterOrder.arguments[4],
    ]
    /// Where a thread would be that makes the rest of a call in our code, had nobody cut that short.
    ///
    /// - Parameters:
    ///   - area: where our code begins in the program.
    ///   - word: reads the thread's stack.
    /// - Returns: nil: it is elsewhere in our code.
    static func outsideRest(
        _ registers: Registers, area: UInt64, word: (UInt64) -> UInt64?
    ) -> Registers? {
        guard restRange.contains(registers.programCounter &- area) else { return nil }
        var outside = registers
        for (index, register) in restRegisters.enumerated() {
            outside[register] = word(registers.stackPointer &+ UInt64(8 * (index + 1)))
        }
        guard let resume = word(registers.stackPointer &+ 40),
            let pointer = word(registers.stackPointer &+ 56)
        else { return nil }
        outside[Registers.programCounter] = resume
        outside[Registers.stackPointer] = pointer
        return outside
    }
}

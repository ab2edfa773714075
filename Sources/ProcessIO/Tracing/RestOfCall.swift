package import Architecture
import CSystem
import Glibc
import ProfileModel
import System

/// A call of a stopped thread that moves data, and that the stop has cut short. The thread makes
/// the rest of the call in our code (`CAgent/rest.h`), and returns the sum.
package struct RestOfCall {
    /// Where our code in the program makes the rest.
    package struct Places: Hashable {
        /// `betweenFiles`: by the same call once more, between files. `made`: the position after
        /// that call.
        package var betweenFiles: UInt64
        package var made: UInt64
        /// To a pipe or a socket.
        package var ofStream: UInt64

        package init(betweenFiles: UInt64, made: UInt64, ofStream: UInt64) {
            self.betweenFiles = betweenFiles
            self.made = made
            self.ofStream = ofStream
        }
    }

    /// The words that go onto the thread's stack, at its stack pointer then.
    private let words: [UInt64]
    private var registers: Registers

    /// nil: another call, or a call that was complete.
    ///
    /// - Parameters:
    ///   - number: the call's, as the stop shows it.
    ///   - flags: the processor's.
    ///   - places: where in our code the rest would be made.
    package init?(
        _ number: UInt32, of tid: Int32, _ registers: Registers, flags: UInt64, at places: Places
    ) {
        guard let call = SystemCall(rawValue: Int32(bitPattern: number)),
            let moved = registers[Registers.result], moved > 0,
            let left = Self.left(of: call, behind: moved, of: tid, registers),
            let kind = Self.kindIfCutShort(call, of: tid, registers)
        else { return nil }
        self.registers = registers
        if registers.programCounter == places.made {
            // The stop has cut the rest short, too.
            let memory = TargetMemory(pid: tid)
            guard let before = memory.word(at: registers.stackPointer) else { return nil }
            words = [before &+ moved]
        } else {
            let saved = RegisterOrder.arguments.compactMap { registers[$0] }
            guard saved.count == RegisterOrder.arguments.count else { return nil }
            let descriptor = saved[0] & 0xFFFF_FFFF
            let (toWrite, isSocket): (UInt64, UInt64) = (4, kind == S_IFSOCK ? 1 : 0)  // POLLOUT
            words =
                [moved] + saved + [registers.programCounter, UInt64(number)]
                + [registers.stackPointer, flags, descriptor | toWrite << 32, left.start]
                + [left.length, isSocket, 0, 0, left.part | left.parts << 32]
            self.registers[Registers.stackPointer] =
                registers.stackPointer &- UInt64(CallingConvention.redZone + 8 * words.count)
            guard kind == S_IFREG else {
                self.registers[Registers.programCounter] = places.ofStream
                return
            }
        }
        guard let place = Self.length(of: call) else { return nil }
        // The kernel updates the positions that the call points to.
        self.registers[RegisterOrder.arguments[place]] = left.length
        self.registers[Registers.result] = UInt64(number)
        self.registers[Registers.programCounter] = places.betweenFiles
    }

    /// Makes the stopped thread make the rest when it resumes.
    package func lead(_ tid: Int32) throws(SystemError) {
        for (index, word) in words.enumerated() {
            try check(
                fl_ptrace_poke(tid, registers.stackPointer &+ UInt64(8 * index), word),
                "writing to thread \(tid)'s stack")
        }
        var values = (0..<Registers.count).map { registers[$0] ?? 0 }
        try check(
            fl_ptrace_set_registers(tid, &values), "setting thread \(tid)'s registers")
    }

    /// The part of a call that is not done yet.
    private struct Left {
        /// Where the part begins, if the call has an address.
        var start: UInt64
        /// In bytes. If the call has several buffers: the rest of the current one.
        var length: UInt64
        /// The number of the next buffer.
        var part: UInt64 = 0
        /// How many buffers there are; 0: the call takes only one.
        var parts: UInt64 = 0
    }

    /// nil: another call, or a complete one.
    private static func left(
        of call: SystemCall, behind moved: UInt64, of tid: Int32, _ registers: Registers
    ) -> Left? {
        guard let start = registers.argument(1) else { return nil }
        if let place = length(of: call) {
            guard let wanted = registers.argument(place), moved < wanted,
                wanted <= SystemCall.mostBytes
            else { return nil }
            return Left(start: start &+ moved, length: wanted - moved)
        }
        guard call == .writev, let parts = registers.argument(2), parts <= mostParts else {
            return nil
        }
        let memory = TargetMemory(pid: tid)
        var moved = moved
        for part in 0..<parts {
            let place = start &+ 16 &* part
            guard let address = memory.word(at: place), let size = memory.word(at: place &+ 8)
            else { return nil }
            if moved < size {
                return Left(
                    start: address &+ moved, length: size - moved, part: part + 1, parts: parts)
            }
            moved -= size
        }
        return nil
    }

    /// The most buffers that a call may have (`UIO_MAXIOV`).
    private static let mostParts: UInt64 = 1024

    /// Which argument is its length.
    private static func length(of call: SystemCall) -> Int? {
        switch call {
        case .write, .sendto: 2
        case .sendfile: 3
        case .copy_file_range: 4
        default: nil
        }
    }

    /// The kind of file that the call moves to, if only a stop can have cut it short. nil: there
    /// may be another cause, with which the rest would wait, or cause a signal.
    private static func kindIfCutShort(
        _ call: SystemCall, of tid: Int32, _ registers: Registers
    ) -> UInt32? {
        var file = fl_file()
        guard let argument = registers.argument(call == .copy_file_range ? 2 : 0),
            let descriptor = Int32(exactly: argument & 0xFFFF_FFFF),
            fl_known_file(AT_FDCWD, "/proc/\(tid)/fd/\(descriptor)", &file) == 0
        else { return nil }
        let kind = file.mode & S_IFMT
        let isCutShort =
            switch call {
            case .write, .writev: kind == S_IFIFO || kind == S_IFSOCK
            case .sendto: kind == S_IFSOCK && registers.argument(3) == 0
            // A pipe takes as much as it has room for. At a limit, the rest would cause a signal.
            default: kind == S_IFREG && fl_file_size_limit(tid) == .max
            }
        return isCutShort ? kind : nil
    }
}

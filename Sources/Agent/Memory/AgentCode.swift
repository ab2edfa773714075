package import Architecture
import CAgent
package import ProcessIO

/// The code that runs inside the program, as it is compiled into the recorder.
package enum AgentCode {
    nonisolated(unsafe) private static let description = fl_code_describe()

    /// The bytes at the area's beginning.
    package static let bytes = [UInt8](
        UnsafeBufferPointer(start: description.code, count: Int(description.length)))

    // Places in the area.
    package static var debugState: UInt64 { UInt64(description.debug_state) }
    package static var mark: UInt64 { UInt64(description.mark) }
    package static var main: UInt64 { UInt64(description.main) }
    package static var entry: UInt64 { UInt64(description.entry) }
    package static var sampleHandler: UInt64 { UInt64(description.sample_handler) }

    /// Where a thread makes the rest of a call, and where it has made it: see ``RestOfCall``.
    package static var rest: UInt64 { UInt64(description.rest) }
    package static var restMade: UInt64 { UInt64(description.rest_made) }
    package static var restOfStream: UInt64 { UInt64(description.rest_of_stream) }
    /// Where the thread has our frame on its stack: up to the last instruction, a jump of two
    /// bytes.
    package static var restRange: Range<UInt64> { rest..<(UInt64(description.rest_end) - 2) }

    package static func standIn(for call: CallSites.Call) -> UInt64 {
        let all = description.stand_ins
        return UInt64([all.0, all.1, all.2, all.3, all.4, all.5, all.6, all.7][call.index])
    }

    /// The range of all stand-ins in an area.
    package static func standIns(at address: UInt64) -> Range<UInt64> {
        let all = description.stand_ins
        let start = min(all.0, all.1, all.2, all.3, all.4, all.5, all.6, all.7)
        return (address &+ UInt64(start))..<(address &+ UInt64(description.stand_ins_end))
    }

    /// The code before its first bytes became a jump to one of an area's stand-ins; nil: it is no
    /// such jump. We believe only the code itself: every child that the program has forked can
    /// write to the area.
    package static func original(of word: UInt64, at site: UInt64, ledTo area: UInt64) -> UInt64? {
        let jump = JumpPatch.replaced(of: word)
        let call = CallSites.Call.allCases.first {
            JumpPatch.word(from: site, to: area &+ standIn(for: $0)) == jump
        }
        return call.map { JumpPatch.word(word, beginning: $0.load) }
    }

    /// A piece of code that is placed alone for a while, with its words.
    package struct Piece {
        fileprivate let code: [UInt8]
        fileprivate let words: Int

        fileprivate init(_ piece: fl_piece) {
            code = [UInt8](UnsafeBufferPointer(start: piece.code, count: Int(piece.length)))
            words = Int(piece.words)
        }

        package var count: Int { code.count }

        fileprivate func filled<Words>(_ values: Words) -> [UInt8] {
            withUnsafeBytes(of: values) { Array(code[..<words]) + Array($0) }
        }
    }

    private static let boot = Piece(description.boot)
    private static let away = Piece(description.away)

    /// True if the code is that of an area which a thread has made, and which is not filled in yet.
    package static func isArrival(_ code: [UInt8]) -> Bool {
        let length = Int(description.arrival)
        return code.starts(with: bytes.prefix(length))
            && code.dropFirst(length).allSatisfy { $0 == 0 }
    }

    /// Room for either piece, in bytes.
    package static let pieceSize = (max(boot.count, away.count) + 15) / 16 * 16

    /// True if another recorder's piece is there: a thread may be in it.
    package static func isPiece(_ bytes: [UInt8]) -> Bool {
        [boot, away].contains { bytes.starts(with: $0.code.prefix($0.words)) }
    }

    /// The piece that brings an area in.
    ///
    /// - Parameters:
    ///   - descriptor: the memory's descriptor in the process; nil: the thread makes the memory.
    ///   - isAtEntry: true if the piece replaces the program's first instruction.
    ///   - recorder: the process that will fill the area in, if the thread makes it; 0: unknown.
    package static func boot(
        descriptor: Int32?, place: UInt64, size: Int, isAtEntry: Bool, recorder: Int32 = 0
    ) -> [UInt8] {
        boot.filled(
            fl_boot_words(
                descriptor: Int64(descriptor ?? -1), place: place, size: UInt64(size),
                is_at_entry: isAtEntry ? 1 : 0, recorder: UInt32(bitPattern: recorder)))
    }

    /// The piece that removes the area: it restores the sampling signal's action if that is still
    /// `handler` (nil: the action stays), and unmaps the mapping (nil: it stays).
    package static func away(
        restoring action: AgentMemory.Signal?, from handler: UInt64,
        _ range: Range<UInt64>?
    ) -> [UInt8] {
        away.filled(
            fl_away_words(
                signal: UInt64(action?.number ?? 0), action: (action?.original ?? 0, 0, 0, 0),
                address: range?.lowerBound ?? 0, size: UInt64(range?.count ?? 0),
                naps: napsForState, handler: handler))
    }

    package static func away(unmapping range: Range<UInt64>) -> [UInt8] {
        away(restoring: nil, from: 0, range)
    }

    /// Some five milliseconds.
    private static let napsForState: UInt64 = 60

    /// True if a thread that has removed everything waits at this address, in a piece at `start`.
    package static func isAwayWaiting(_ address: UInt64, piece start: UInt64) -> Bool {
        (start &+ UInt64(description.away_waiting)..<start &+ UInt64(description.away_waiting_end))
            .contains(address)
    }
}

/// Where threads make the rest of a call that was cut short (``RestOfCall``), in our code.
extension AgentCode {
    /// The registers that ``fl_rest`` keeps, in its order.
    package static let restRegisters = RegisterOrder.arguments

    /// Where a thread makes the rest of a call in an area.
    package static func restPlaces(in area: UInt64) -> RestOfCall.Places {
        RestOfCall.Places(
            betweenFiles: area &+ rest, made: area &+ restMade,
            ofStream: area &+ restOfStream)
    }

    /// The registers that a thread would have if its call had not been cut short, while our code makes
    /// the rest of the call.
    ///
    /// - Parameters:
    ///   - area: where our code begins in the program.
    ///   - word: reads the thread's stack.
    /// - Returns: nil if the thread is elsewhere in our code.
    package static func outsideRest(
        _ registers: Registers, area: UInt64, word: (UInt64) -> UInt64?
    ) -> Registers? {
        guard restRange.contains(registers.programCounter &- area) else { return nil }
        var outside = registers
        for (index, register) in restRegisters.enumerated() {
            outside[register] = word(registers.stackPointer &+ UInt64(8 * (index + 1)))
        }
        guard let resume = word(registers.stackPointer &+ 56),
            let pointer = word(registers.stackPointer &+ 72)
        else { return nil }
        outside[Registers.programCounter] = resume
        outside[Registers.stackPointer] = pointer
        return outside
    }
}

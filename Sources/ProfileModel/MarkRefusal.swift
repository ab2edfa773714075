/// Why a place cannot be marked.
package enum MarkRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadable
    case replaced
    case narrow
    case jumpedInto
    case loopsToEntry
    case unmovable
    case needed
    case crowded
    case indirect
    case endless
    case leavesUnseen
    case leavesOnCondition
    case unclearJump
    case tooFar
    case noRoom
    case notWritten
    /// For an interval: why one of its ends cannot be watched.
    indirect case end(MarkRefusal)

    package var description: String {
        switch self {
        case .unreadable: "its code cannot be read"
        case .replaced: "its code in memory is not its file's"
        case .narrow: "there is no room for a jump"
        case .jumpedInto: "something jumps to where the room for a jump would be"
        case .loopsToEntry: "it loops to its first instruction"
        case .unmovable: "an instruction there cannot be moved"
        case .needed: "the recorder needs that place itself"
        case .crowded: "there is no room beside another mark"
        case .indirect: "which code it stands for is decided when the program runs (IFUNC)"
        case .endless: "it never returns"
        case .leavesUnseen: "it goes on in code that has no symbol"
        case .leavesOnCondition: "it goes on in another function by a conditional jump"
        case .unclearJump: "where it jumps to is not clear"
        case .tooFar: "it is too far from the recorder's code"
        case .noRoom: "there are too many marks"
        case .notWritten: "it cannot be written to"
        case .end(let reason): "its end cannot be watched: \(reason)"
        }
    }
}

package import Architecture

/// A program or library in a process that has something to mark.
package struct MarkedImage: Hashable, Sendable {
    /// Where its file is now.
    package var file: String
    /// Where the program found it.
    package var path: String
    /// Add this to an address in the file to get the one in the process.
    package var bias: UInt64

    package init(file: String, path: String, bias: UInt64) {
        self.file = file
        self.path = path
        self.bias = bias
    }
}

/// The changes to a loaded program or library that make it report its marks.
package struct MarkPlan: Hashable, Sendable {
    /// Whole instructions that a jump replaces.
    package struct Change: Hashable, Sendable {
        /// The address of the first one.
        package var start: UInt64
        /// The requests whose hits are recorded there, by their positions in the list.
        package var requests: Set<Int>
        /// Records the hits, has the effect of the replaced instructions, and returns behind them.
        package var trampoline: MovableCode

        package init(start: UInt64, requests: Set<Int>, trampoline: MovableCode) {
            self.start = start
            self.requests = requests
            self.trampoline = trampoline
        }

        /// Addresses that no code may jump to after the change, and where no thread may be when the
        /// jump is written.
        package var inside: Range<UInt64> {
            (start &+ 1)..<(start &+ UInt64(MovableCode.jumpLength))
        }
    }

    /// Why one place of a request cannot be marked.
    package struct Refusal: Hashable, Sendable {
        package var request: Int
        /// The function or probe.
        package var place: String
        package var reason: MarkRefusal

        package init(request: Int, place: String, reason: MarkRefusal) {
            self.request = request
            self.place = place
            self.reason = reason
        }
    }

    package var changes: [Change] = []
    /// Addresses of probes' semaphores.
    package var semaphores: [UInt64] = []
    package var refusals: [Refusal] = []
    /// The requests that found something here, refused or not.
    package var found: Set<Int> = []

    package init() {}
}

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

/// One hit of a mark: the program has reached a marked place.
package struct MarkHit: Hashable, Sendable {
    package enum Event: UInt8, CaseIterable, Sendable {
        case point = 1
        case begin = 2
        case end = 3
    }

    /// The position of its request in the list.
    package var request: Int
    package var event: Event

    package init(request: Int, event: Event) {
        self.request = request
        self.event = event
    }

    /// The number of its record: each request has one record for each event.
    package var number: Int { Event.allCases.count * request + Int(event.rawValue) - 1 }

    /// The request that a record belongs to.
    package static func request(ofRecord number: UInt32) -> Int {
        Int(number) / Event.allCases.count
    }
}

/// A request by `--mark`: a name, and the place in the program to report under it.
package struct MarkRequest: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        /// Each entry into a function; as an interval, until the function returns.
        ///
        /// - Parameter library: the name of the file that contains it; nil: any file.
        case function(_ name: String, library: String?, isSpan: Bool)
        /// Each time the program passes a USDT probe (sys/sdt.h).
        case probe(provider: String, name: String)
    }

    package var name: String
    package var place: Place

    package init(name: String, place: Place) {
        self.name = name
        self.place = place
    }
}

extension MarkRequest: CustomStringConvertible {
    /// In the words of `--mark`.
    package var description: String {
        switch place {
        case .function(let function, let library, let isSpan):
            "\(name)=\(library.map { $0 + "!" } ?? "")\(function)\(isSpan ? ".." : "")"
        case .probe(let provider, let probe): "\(name)=usdt:\(provider):\(probe)"
        }
    }
}

// What `Benchmarks/recorded.py` asks: how often a gate would be wrong on launches that were really
// made. Reads the wall times of one program's launches in their order (nanoseconds, a line each), cuts
// pieces from them, takes each piece for launches of two programs, and lets the gate decide.
//
//     GateBenchmark ROUNDS [CHANGE] < WALLS
//
// CHANGE makes the first program slower by this factor (1.1: by a tenth). It prints as JSON how often
// each answer came: where the two took turns, and where one was launched after the other.

import Analysis
@preconcurrency import Glibc

let rule = GateRule()
let arguments = CommandLine.arguments.dropFirst()
var walls: [Double] = []
while let line = readLine() { walls += Double(line).map { [$0] } ?? [] }

guard let rounds = arguments.first.flatMap({ Int($0) }), rounds > 0,
    let change = arguments.count > 1 ? Double(arguments[2]) : 1, let last = rule.looks.last,
    // The last look's pairs, and as many again to confirm it.
    case let pairs = 2 * last, walls.count >= 2 * pairs
else {
    fputs("usage: GateBenchmark ROUNDS [CHANGE] < WALLS (of 160 launches and more)\n", stderr)
    exit(2)
}

/// The pairs of a piece whose launches took turns.
func turns(_ piece: ArraySlice<Double>, _ seed: UInt64) -> [(Double, Double)] {
    let order = PairedOrder.turns(pairs: pairs, seed: seed)
    return stride(from: 0, to: 2 * pairs, by: 2).map { place in
        let first = piece[piece.startIndex + place]
        let second = piece[piece.startIndex + place + 1]
        return order[place].arm == 0 ? (first * change, second) : (second * change, first)
    }
}

/// The same of one program's launches behind the other's: to begin with for the last look, then to
/// confirm it.
func blocks(_ piece: ArraySlice<Double>) -> [(Double, Double)] {
    [0, 2 * last].flatMap { begin in
        (0..<last).map { pair in
            let place = piece.startIndex + begin + pair
            return (piece[place] * change, piece[place + last])
        }
    }
}

struct Tally {
    var outcomes: [GateOutcome: Int] = [:]

    mutating func count(_ pairs: [(Double, Double)]) {
        guard case .decided(let decision) = rule.answer(to: pairs) else {
            preconditionFailure("there are pairs for every look")
        }
        outcomes[decision.outcome, default: 0] += 1
    }

    var json: String {
        let members = GateOutcome.allCases.map { "\"\($0.rawValue)\": \(outcomes[$0] ?? 0)" }
        return "{" + members.joined(separator: ", ") + "}"
    }
}

var random = SeededGenerator(seed: 1)
var (inTurns, inBlocks) = (Tally(), Tally())
for _ in 0..<rounds {
    let begin = Int.random(in: 0...(walls.count - 2 * pairs), using: &random)
    let piece = walls[begin..<(begin + 2 * pairs)]
    inTurns.count(turns(piece, random.next()))
    inBlocks.count(blocks(piece))
}
print("{\"rounds\": \(rounds), \"turns\": \(inTurns.json), \"blocks\": \(inBlocks.json)}")

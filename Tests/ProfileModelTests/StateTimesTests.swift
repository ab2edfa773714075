import ProfileModel
import TestSupport
import Testing

extension StateTimes {
    fileprivate init(_ parts: [Int64]) {
        self.init(
            running: TimeSpan(nanoseconds: parts[0]), runnable: TimeSpan(nanoseconds: parts[1]),
            preempted: TimeSpan(nanoseconds: parts[2]), blocked: TimeSpan(nanoseconds: parts[3]))
    }

    fileprivate var parts: [Int64] {
        [running, runnable, preempted, blocked].map(\.nanoseconds)
    }

    fileprivate func prefix(_ nanoseconds: Int64) -> StateTimes {
        prefix(wall: TimeSpan(nanoseconds: nanoseconds))
    }
}

@Suite struct StateTimesTests {
    /// Four parts of very different sizes, some of them 0.
    private static func random(_ random: inout SeededNumbers) -> StateTimes {
        StateTimes(
            (0..<4).map { _ in
                let bits = Int64.random(in: 0...40, using: &random)
                return bits == 0 ? 0 : Int64.random(in: 0..<(1 << bits), using: &random)
            })
    }

    @Test func aPrefixAddsUpToWhatWasAskedFor() {
        var random = SeededNumbers(seed: 1)
        for _ in 0..<2000 {
            let whole = Self.random(&random)
            let wanted = Int64.random(in: 0...max(whole.wall.nanoseconds, 1), using: &random)
            let prefix = whole.prefix(wanted)
            #expect(prefix.wall.nanoseconds == min(wanted, whole.wall.nanoseconds))
        }
    }

    @Test func aPrefixAndItsRestAreTheWhole() {
        var random = SeededNumbers(seed: 2)
        for _ in 0..<2000 {
            let whole = Self.random(&random)
            let prefix = whole.prefix(
                Int64.random(in: 0...max(whole.wall.nanoseconds, 1), using: &random))
            let rest = whole - prefix
            #expect(prefix + rest == whole)
            #expect(prefix.parts.allSatisfy { $0 >= 0 })
            #expect(rest.parts.allSatisfy { $0 >= 0 }, "\(whole) - \(prefix)")
        }
    }

    /// Rounding may take a nanosecond from one state to the next, never more.
    @Test func longerPrefixesHaveNoLessOfAState() {
        var random = SeededNumbers(seed: 3)
        for _ in 0..<300 {
            let whole = Self.random(&random)
            let last = max(whole.wall.nanoseconds, 1)
            let cuts = (0..<8).map { _ in Int64.random(in: 0...last, using: &random) }.sorted()
            var earlier = StateTimes.zero
            for cut in cuts {
                let prefix = whole.prefix(cut)
                #expect(zip(earlier.parts, prefix.parts).allSatisfy { $0 - 1 <= $1 })
                earlier = prefix
            }
        }
    }

    /// As slices are divided at several borders: each cut is taken off the rest.
    @Test func cutsOffTheRestAddUpAndAreNeverNegative() {
        var random = SeededNumbers(seed: 5)
        for _ in 0..<300 {
            let whole = Self.random(&random)
            var (rest, sum) = (whole, StateTimes.zero)
            while rest.wall > .zero {
                let step = Int64.random(in: 1...(whole.wall.nanoseconds / 5 + 1), using: &random)
                let piece = rest.prefix(step)
                #expect(piece.parts.allSatisfy { $0 >= 0 })
                rest = rest - piece
                sum = sum + piece
            }
            #expect(rest == .zero)
            #expect(sum == whole)
        }
    }

    @Test func everyCutOfAShortStretchIsWithinANanosecondOfItsShare() {
        let whole = StateTimes([7, 1, 0, 5])
        for cut in 0...Int64(13) {
            for (part, all) in zip(whole.prefix(cut).parts, whole.parts) {
                #expect(abs(Double(part) - Double(all * cut) / 13) <= 1)
            }
        }
    }

    @Test func nothingAndEverything() {
        let whole = StateTimes([3, 5, 7, 11])
        #expect(whole.prefix(0) == .zero)
        #expect(whole.prefix(26) == whole)
        // Outside: clamped.
        #expect(whole.prefix(-1) == .zero)
        #expect(whole.prefix(.min) == .zero)
        #expect(whole.prefix(27) == whole)
        #expect(whole.prefix(.max) == whole)
        #expect(StateTimes.zero.prefix(5) == .zero)
    }

    @Test func aSingleStateIsCutExactly() {
        for state in 0..<4 {
            var parts: [Int64] = [0, 0, 0, 0]
            parts[state] = 1_000_003
            var expected: [Int64] = [0, 0, 0, 0]
            expected[state] = 333_333
            #expect(StateTimes(parts).prefix(333_333) == StateTimes(expected))
        }
    }

    private static let quarter = Int64.max / 4
    private static let longest: [[Int64]] = [
        [.max, 0, 0, 0], [0, 0, 0, .max], [quarter, quarter, quarter, quarter],
        [1, .max - 3, 1, 1],
    ]

    @Test(arguments: longest)
    func theLongestTimesDoNotOverflow(parts: [Int64]) {
        let whole = StateTimes(parts)
        for wanted in [1, Int64.max / 3, whole.wall.nanoseconds - 1, .max] {
            let prefix = whole.prefix(wanted)
            #expect(prefix.wall.nanoseconds == min(wanted, whole.wall.nanoseconds))
            #expect(prefix + (whole - prefix) == whole)
        }
    }

    @Test func spansWrapInsteadOfTrapping() {
        let longest = TimeSpan(nanoseconds: .max)
        #expect(longest + TimeSpan(nanoseconds: 1) == TimeSpan(nanoseconds: .min))
        #expect(
            MonotonicTime(nanoseconds: .min) - MonotonicTime(nanoseconds: 1)
                == TimeSpan(nanoseconds: .max))
        #expect(TimeSpan.milliseconds(3) == TimeSpan(nanoseconds: 3_000_000))
        #expect(
            MonotonicTime(nanoseconds: 5) + TimeSpan(nanoseconds: -7)
                == MonotonicTime(nanoseconds: -2))
    }
}

import Glibc

@testable import Analysis

/// Launches of two programs that take turns, made up as machines have them: noise that is
/// proportional to the time, one launch in twenty that takes 30 % more, and one step of 10 %, up or
/// down, at a random launch, when the machine's speed changes. The launches never run out.
struct MadeCourse {
    /// Of the noise, as a share: the coefficient of variation.
    var spread: Double
    /// How much longer the first program takes: 1.1 is 10 %.
    var change = 1.0
    /// In nanoseconds.
    var base = 200e6
    /// Where the step may be.
    var stepsWithin = 80

    private var samples: Samples
    private var order: PairedOrder
    private var launches = 0
    private var step = 0
    private var size = 1.0
    private(set) var walls: [(Double, Double)] = []

    init(
        spread: Double, change: Double = 1, base: Double = 200e6, stepsWithin: Int = 80,
        seed: UInt64
    ) {
        (self.spread, self.change, self.base) = (spread, change, base)
        self.stepsWithin = stepsWithin
        samples = Samples(seed: seed)
        order = PairedOrder(seed: samples.random.next())
        step = Int.random(in: 0..<stepsWithin, using: &samples.random)
        size = samples.uniform() < 0.5 ? 1.1 : 1 / 1.1
    }

    mutating func measure(pairs: Int) {
        while walls.count < pairs {
            var pair = (0.0, 0.0)
            for turn in [order.next(), order.next()].compactMap(\.self) {
                if turn.arm == 0 { pair.0 = launch() * change } else { pair.1 = launch() }
            }
            walls.append(pair)
        }
    }

    private mutating func launch() -> Double {
        defer { launches += 1 }
        var wall = base * exp(spread * samples.normal())
        if samples.uniform() < 0.05 { wall *= 1.3 }
        return launches >= step ? wall * size : wall
    }

    /// Measures until the rule decides.
    mutating func decide(_ rule: GateRule) -> GateDecision {
        while true {
            switch rule.answer(to: walls) {
            case .measure(let pairs): measure(pairs: pairs)
            case .decided(let decision): return decision
            }
        }
    }
}

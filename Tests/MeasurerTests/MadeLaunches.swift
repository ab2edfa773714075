import Measurer
import ProfileModel

/// The result of a launch that is made for a test.
enum Made: Hashable, CaseIterable {
    case good, status1, killed, warm, failed, hung, notReady, interrupted

    func launch(_ request: LaunchRequest) -> MeasuredLaunch {
        var launch = MeasuredLaunch(
            arm: request.arm, start: .milliseconds(Int64(request.index) * 10),
            wall: .milliseconds(5), outcome: .exited(0))
        switch self {
        case .good: break
        case .status1: launch.outcome = .exited(1)
        case .killed: launch.outcome = .signalled(11)
        case .warm: launch.discarded = .warm
        case .failed: launch.discarded = .failed
        case .hung: launch.discarded = .hung
        case .notReady: launch.discarded = .notReady
        case .interrupted: launch.discarded = .interrupted
        }
        return launch
    }
}

/// ABBA or BAAB, as a seeded coin falls.
struct MadeOrder: ArmOrder {
    let arms: Int
    private var random: SeededRandom
    private var rest: [Int]?

    init(arms: Int, seed: UInt64) {
        self.arms = arms
        random = SeededRandom(seed: seed)
    }

    mutating func nextPair() -> LaunchPair {
        let padding = EnvironmentPadding(size: Int.random(in: 0...4080, using: &random))
        if let rest {
            self.rest = nil
            return LaunchPair(arms: rest, padding: padding)
        }
        let forward = Array(0..<arms)
        let first = Bool.random(using: &random) ? forward : forward.reversed()
        rest = first.reversed()
        return LaunchPair(arms: first, padding: padding)
    }
}

extension LaunchPlan {
    static func made(arms: Int = 1, requested: Int, seed: UInt64 = 7) -> LaunchPlan {
        LaunchPlan(
            arms: arms, requested: requested, order: MadeOrder(arms: arms, seed: seed))
    }

    struct Endless: Error {}

    /// Makes these launches, and good ones after them.
    mutating func run(
        _ made: [Made], most: Int = 1_000
    ) throws -> (requests: [LaunchRequest], end: MeasuringEnd) {
        var requests: [LaunchRequest] = []
        while requests.count < most {
            switch next() {
            case .end(let end): return (requests, end)
            case .launch(let request):
                let kind = request.index < made.count ? made[request.index] : .good
                requests.append(request)
                note(kind.launch(request))
            }
        }
        throw Endless()
    }

    func counted(of arm: Int) -> Int {
        launches.count { $0.arm == arm && $0.discarded == nil }
    }
}

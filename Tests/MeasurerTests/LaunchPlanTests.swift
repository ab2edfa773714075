import Measurer
import ProfileModel
import Testing

@Suite struct LaunchPlanTests {
    @Test func theFirstIsThrownAway() throws {
        var plan = LaunchPlan.made(requested: 3)
        let (requests, end) = try plan.run([])
        #expect(end == .complete)
        #expect(requests.map(\.pair) == [nil, 0, 1, 2])
        #expect(requests.map(\.index) == [0, 1, 2, 3])
        #expect(plan.launches.map(\.discarded) == [.first, nil, nil, nil])
        #expect(plan.counted == 3)
        #expect(plan.takeLateDiscards().isEmpty)
    }

    @Test func askingTwiceChangesNothing() {
        var plan = LaunchPlan.made(arms: 2, requested: 1)
        for _ in 0..<6 {
            let step = plan.next()
            #expect(plan.next() == step)
            if case .launch(let request) = step { plan.note(Made.good.launch(request)) }
        }
        #expect(plan.next() == .end(.complete))
    }

    @Test func twoArmsTakeTurns() throws {
        var plan = LaunchPlan.made(arms: 2, requested: 6)
        let (requests, end) = try plan.run([])
        #expect(end == .complete)
        #expect(requests.count == 14)
        #expect(requests.prefix(2).map(\.arm) == [0, 1])
        let blocks = stride(from: 2, to: 14, by: 4).map { requests[$0..<($0 + 4)].map(\.arm) }
        for block in blocks { #expect([[0, 1, 1, 0], [1, 0, 0, 1]].contains(block)) }
        #expect(plan.counted(of: 0) == 6 && plan.counted(of: 1) == 6)
        for pair in 0..<6 {
            let sizes = requests.filter { $0.pair == pair }.map(\.padding)
            #expect(sizes.count == 2 && Set(sizes).count == 1)
        }
        #expect(Set(requests.map(\.padding)).count > 3)
    }

    /// Nothing is lost: it has no partner yet.
    @Test func theFirstOfAPairIsMadeAgainAtOnce() throws {
        var plan = LaunchPlan.made(arms: 2, requested: 2)
        let (requests, end) = try plan.run([.good, .good, .failed, .warm])
        #expect(end == .complete)
        #expect(Set(requests[2...4].map(\.arm)).count == 1)
        #expect(Set(requests[2...5].map(\.pair)) == [0])
        #expect(Set(requests[2...5].map(\.padding)).count == 1)
        #expect(plan.launches.map(\.discarded).prefix(5) == [.first, .first, .failed, .warm, nil])
        #expect(plan.launches.count == 8)
        #expect(plan.counted == 2)
    }

    /// A launch that takes its place later is no partner.
    @Test func aPairThatLacksItsSecondIsMadeAnew() throws {
        var plan = LaunchPlan.made(arms: 2, requested: 2)
        let (requests, end) = try plan.run([.good, .good, .good, .failed])
        #expect(end == .complete)
        #expect(requests.map(\.pair) == [nil, nil, 0, 0, 1, 1, 2, 2])
        #expect(plan.counted == 2)
        let whole = requests[2].arm
        #expect(plan.counted(of: whole) == 3 && plan.counted(of: 1 - whole) == 2)
    }

    @Test func oneArmIsMadeAgainAtOnce() throws {
        var plan = LaunchPlan.made(requested: 2)
        let (requests, end) = try plan.run([.good, .good, .failed])
        #expect(end == .complete)
        #expect(requests.map(\.pair) == [nil, 0, 1, 1])
    }

    /// Its files are not known beforehand, so it cannot be cold.
    @Test func theFirstNeedNotBeCold() throws {
        var plan = LaunchPlan.made(requested: 1)
        _ = try plan.run([.warm])
        #expect(plan.launches.map(\.discarded) == [.first, nil])
    }

    @Test func aFirstOneThatFailedIsMadeAgain() throws {
        var plan = LaunchPlan.made(requested: 1)
        let (_, end) = try plan.run([.failed, .killed, .good])
        #expect(end == .complete)
        #expect(plan.launches.map(\.discarded) == [.failed, .failed, .first, nil])
    }

    @Test func aLaunchEndedByASignalHasFailed() throws {
        var plan = LaunchPlan.made(requested: 2)
        _ = try plan.run([.good, .good, .killed])
        #expect(plan.launches.map(\.discarded) == [.first, nil, .failed, nil])
    }

    /// The program may end, in any way, before it is looked at.
    @Test func eventsAfterReadinessAreNoPartOfTheLaunch() throws {
        var plan = LaunchPlan.made(requested: 4)
        let ends: [Recording.Outcome] = [
            .running, .exited(0), .exited(1), .signalled(15), .running,
        ]
        for end in ends {
            guard case .launch(let request) = plan.next() else { break }
            var launch = Made.good.launch(request)
            launch.readyBy = "output"
            launch.outcome = end
            plan.note(launch)
        }
        #expect(plan.next() == .end(.complete))
        #expect(plan.launches.map(\.discarded) == [.first, nil, nil, nil, nil])
    }

    @Test func interrupted() throws {
        for number in 0..<5 {
            var plan = LaunchPlan.made(arms: 2, requested: 2)
            let made = Array(repeating: Made.good, count: number) + [.interrupted]
            let (requests, end) = try plan.run(made)
            #expect(end == .interrupted)
            #expect(requests.count == number + 1)
            #expect(plan.launches.last?.discarded == .interrupted)
        }
    }

    @Test func stopping() {
        var plan = LaunchPlan.made(requested: 2)
        plan.stop(.interrupted)
        plan.stop(.complete)
        #expect(plan.next() == .end(.interrupted))
        let request = LaunchRequest(arm: 0, index: 0, pair: nil, padding: .init(size: 0))
        plan.note(Made.good.launch(request))
        #expect(plan.launches.isEmpty)
    }
}

@Suite struct ExitStatusTests {
    @Test func anotherStatusThanMost() throws {
        var plan = LaunchPlan.made(requested: 4)
        let (_, end) = try plan.run([.good, .good, .status1, .good, .good])
        #expect(end == .complete)
        #expect(plan.launches.map(\.discarded) == [.first, nil, .otherStatus, nil, nil, nil])
        #expect(plan.takeLateDiscards().map(\.index) == [2])
        #expect(plan.takeLateDiscards().isEmpty)
    }

    /// The status of most is right, whichever it is: grep finds nothing, and ends with 1.
    @Test func allWithStatus1() throws {
        var plan = LaunchPlan.made(requested: 3)
        let (_, end) = try plan.run(Array(repeating: .status1, count: 4))
        #expect(end == .complete)
        #expect(plan.launches.map(\.discarded) == [.first, nil, nil, nil])
    }

    @Test func ofEqualsSuccess() throws {
        var plan = LaunchPlan.made(requested: 4)
        _ = try plan.run([.good, .status1, .good, .status1, .good])
        #expect(
            plan.launches.map(\.discarded)
                == [.first, .otherStatus, nil, .otherStatus, nil, nil, nil])
    }

    @Test func onceItIsKnownItIsKnown() throws {
        var plan = LaunchPlan.made(requested: 3)
        let made: [Made] = [.good, .good, .status1, .good, .status1, .good]
        let (requests, _) = try plan.run(made)
        #expect(plan.launches[4].discarded == .otherStatus)
        #expect(plan.takeLateDiscards().map(\.index) == [2])
        #expect(requests[4].pair == 3 && requests[5].pair == 3)
    }

    /// The other launches' output does not matter, and may be much.
    @Test func theOutputOfThoseThatDiffer() throws {
        var plan = LaunchPlan.made(requested: 6)
        let made: [Made] = [.good, .good, .status1, .good, .failed, .good, .warm, .good, .good]
        while case .launch(let request) = plan.next() {
            let kind = request.index < made.count ? made[request.index] : .good
            var launch = kind.launch(request)
            launch.output = "words"
            plan.note(launch)
        }
        let kept = plan.launches.indices.filter { !plan.launches[$0].output.isEmpty }
        #expect(kept == [2, 4])
        #expect(plan.launches[2].discarded == .otherStatus)
    }

    @Test func eachArmHasItsOwn() throws {
        var plan = LaunchPlan.made(arms: 2, requested: 2)
        while case .launch(let request) = plan.next() {
            plan.note((request.arm == 0 ? Made.good : .status1).launch(request))
        }
        #expect(plan.next() == .end(.complete))
        #expect(plan.launches.count == 6)
    }

    /// The other launch of the pair stays.
    @Test func aWholePairIsAdded() throws {
        var plan = LaunchPlan.made(arms: 2, requested: 3)
        let (requests, end) = try plan.run([.good, .good, .status1])
        #expect(end == .complete)
        #expect(requests.suffix(2).map(\.pair) == [3, 3])
        let arm = requests[2].arm
        #expect(plan.counted(of: arm) == 3 && plan.counted(of: 1 - arm) == 4)
    }
}

@Suite struct GivingUpTests {
    @Test(arguments: [
        (Made.failed, MeasuredLaunch.Discard.failed, 5), (.killed, .failed, 5),
        (.notReady, .notReady, 5), (.hung, .hung, 2), (.warm, .warm, 6),
    ])
    func noneCounts(made: Made, reason: MeasuredLaunch.Discard, launches: Int) throws {
        for requested in [1, 10, 100_000] {
            var plan = LaunchPlan.made(requested: requested)
            let (requests, end) = try plan.run(Array(repeating: made, count: 20))
            #expect(end == .gaveUp(arm: 0, reason: reason, counted: 0))
            #expect(requests.count == launches)
        }
    }

    /// As many in vain as were requested.
    @Test func tooMany() throws {
        var plan = LaunchPlan.made(requested: 8)
        let made = Array(repeating: [Made.good, .failed], count: 20).flatMap { $0 }
        let (requests, end) = try plan.run(made)
        #expect(end == .gaveUp(arm: 0, reason: .failed, counted: 7))
        #expect(requests.count == 16)
    }

    @Test func theOtherArm() throws {
        var plan = LaunchPlan.made(arms: 2, requested: 3)
        while case .launch(let request) = plan.next() {
            plan.note((request.arm == 0 ? Made.good : .hung).launch(request))
        }
        #expect(plan.next() == .end(.gaveUp(arm: 1, reason: .hung, counted: 0)))
    }

    @Test func theGravestOfEquals() throws {
        var plan = LaunchPlan.made(requested: 9)
        let made: [Made] = [.good, .warm, .notReady, .warm, .notReady, .failed]
        let (_, end) = try plan.run(made)
        #expect(end == .gaveUp(arm: 0, reason: .notReady, counted: 0))
    }
}

/// For any results of the launches.
@Suite struct EveryCourseTests {
    /// All courses of five launches, good ones following.
    @Test(arguments: [1, 2]) func plansOfOneOrTwoArms(arms: Int) throws {
        let kinds: [Made] = [.good, .status1, .failed, .warm, .hung, .interrupted]
        var courses: [[Made]] = [[]]
        for _ in 0..<5 { courses = courses.flatMap { course in kinds.map { course + [$0] } } }
        for course in courses {
            for requested in 1...2 { check(course, arms: arms, requested: requested) }
        }
    }

    @Test func seeded() {
        var random = SeededRandom(seed: 42)
        for _ in 0..<2_000 {
            let goodness = Int.random(in: 1...20, using: &random)
            let kinds = Array(repeating: Made.good, count: goodness) + [.status1, .failed, .warm]
            let course = (0..<200).map { _ in kinds.randomElement(using: &random) ?? .good }
            check(
                course, arms: Int.random(in: 1...2, using: &random),
                requested: Int.random(in: 1...30, using: &random))
        }
    }

    private func check(_ course: [Made], arms: Int, requested: Int) {
        var plan = LaunchPlan.made(arms: arms, requested: requested)
        guard let (requests, end) = try? plan.run(course) else {
            Issue.record("\(course) does not end")
            return
        }
        let launches = plan.launches
        var problems: [String] = []
        func expect(_ holds: Bool, _ what: String) { if !holds { problems.append(what) } }
        expect(requests.map(\.index) == Array(0..<launches.count), "order")
        expect(requests.map(\.arm) == launches.map(\.arm), "arms")
        expect(launches.count <= arms * (1 + 4 * max(5, requested)), "bounded")
        for arm in 0..<arms {
            let own = launches.filter { $0.arm == arm }
            let first = own.firstIndex { $0.discarded == .first }
            expect(own.count { $0.discarded == .first } <= 1, "one first")
            expect((own.firstIndex { $0.discarded == nil } ?? .max) > first ?? -1, "first first")
            let statuses = Set(own.filter { $0.discarded == nil }.map(\.outcome))
            if end == .complete {
                expect(own.count { $0.discarded == nil } >= requested, "enough")
                expect(first != nil, "a first one")
                expect(statuses.count == 1, "one status")
            }
        }
        let pairs = Dictionary(grouping: launches.indices, by: { requests[$0].pair })
        let whole = pairs.filter { pair, indices in
            pair != nil && indices.count { launches[$0].discarded == nil } == arms
        }
        expect(plan.counted == whole.count, "count")
        if end == .complete { expect(whole.count == requested, "no more than needed") }
        let sizes = Dictionary(grouping: requests.filter { $0.pair != nil }, by: \.pair)
        expect(sizes.values.allSatisfy { Set($0.map(\.padding)).count == 1 }, "one size a pair")
        if case .gaveUp(_, let reason, _) = end {
            expect(launches.contains { $0.discarded == reason }, "the reason")
        }
        #expect(
            problems.isEmpty, "\(course), \(requested) of \(arms): \(launches.map(\.discarded))")
    }
}

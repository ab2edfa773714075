import Measurer
import ProfileModel
import Testing

/// More launches than were requested at first.
@Suite struct ExtensionTests {
    @Test func itGoesOnWhereItEnded() throws {
        var plan = LaunchPlan.made(arms: 2, requested: 2)
        let (first, _) = try plan.run([])
        plan.extend(to: 5)
        #expect(plan.requested == 5)
        let (second, end) = try plan.run([])
        #expect(end == .complete && plan.counted == 5)
        // No further launch is thrown away, and the turns go on.
        #expect(second.map(\.pair) == [2, 2, 3, 3, 4, 4])
        #expect(second.first?.index == first.count)
        #expect(plan.launches.count { $0.discarded == .first } == 2)
    }

    @Test func noMoreThanBeforeIsNothing() throws {
        for requested in [-1, 0, 2] {
            var plan = LaunchPlan.made(requested: 2)
            _ = try plan.run([])
            plan.extend(to: requested)
            #expect(plan.next() == .end(.complete) && plan.requested == 2)
        }
    }

    /// A measurement that has failed is not continued.
    @Test func onlyWhatIsComplete() throws {
        for made in [Made.hung, .interrupted] {
            var plan = LaunchPlan.made(requested: 2)
            let (_, end) = try plan.run([made, made])
            plan.extend(to: 10)
            #expect(plan.next() == .end(end))
        }
        var begun = LaunchPlan.made(requested: 2)
        begun.extend(to: 10)
        #expect(begun.requested == 2)
    }

    /// Which status is right is known from the first end on.
    @Test func theUsualStatusStays() throws {
        var plan = LaunchPlan.made(requested: 3)
        _ = try plan.run([])
        plan.extend(to: 5)
        let (requests, end) = try plan.run([.good, .good, .good, .good, .status1])
        #expect(end == .complete && requests.count == 3)
        #expect(plan.launches[4].discarded == .otherStatus)
    }

    /// As many launches in vain as count are allowed, over all.
    @Test func patienceGrows() throws {
        var plan = LaunchPlan.made(requested: 6)
        _ = try plan.run([.good, .good] + Array(repeating: .failed, count: 5))
        #expect(plan.counted == 6)
        plan.extend(to: 12)
        let (_, end) = try plan.run(Array(repeating: .good, count: 13) + [.failed, .failed])
        #expect(end == .complete)
    }
}

import ProfileModel
import Testing

@testable import Agent
@testable import Sampler

/// From where a session can get to where.
@Suite struct StageTests {
    private let image = RunningImage(start: MonotonicTime(nanoseconds: 1), path: "/bin/first")
    private let other = RunningImage(start: MonotonicTime(nanoseconds: 2), path: "/bin/second")
    private let execution = Execution(deadline: MonotonicTime(nanoseconds: 20))

    private enum Name: String, CaseIterable {
        case launching, settling, sampling, following, leaving, leavingNothing, over
    }

    private func stage(_ name: Name) -> Stage {
        switch name {
        case .launching: .launching(NextImage())
        case .settling: .settling(image, failures: 0)
        case .sampling: .sampling(image)
        case .following: .following(image, execution)
        case .leaving: .leaving(image, nil)
        case .leavingNothing: .leaving(nil, nil)
        case .over: .over(.running)
        }
    }

    private func name(_ stage: Stage) -> Name {
        switch stage {
        case .launching: .launching
        case .settling: .settling
        case .sampling: .sampling
        case .following: .following
        case .leaving(_?, _): .leaving
        case .leaving(nil, _): .leavingNothing
        case .over: .over
        }
    }

    /// What a transition leads to from each stage; from all others it changes nothing, and says so.
    private func expect(
        _ expected: [Name: Name], _ transition: (inout Stage) -> Bool,
        _ location: SourceLocation = #_sourceLocation
    ) {
        for from in Name.allCases {
            var stage = stage(from)
            let isPossible = transition(&stage)
            #expect(
                isPossible == (expected[from] != nil), "from \(from)", sourceLocation: location)
            #expect(
                name(stage) == expected[from] ?? from, "from \(from)", sourceLocation: location)
        }
    }

    @Test func imagesBeginWhereNoneIs() {
        expect([.launching: .sampling, .leavingNothing: .leaving]) { $0.begin(other) }
        expect([.launching: .settling, .leavingNothing: .leaving]) {
            $0.begin(other, isToBeJoined: true)
        }
    }

    @Test func imagesAreLostFromWhereverOneIs() {
        expect([
            .settling: .launching, .sampling: .launching, .following: .launching,
            .leaving: .leavingNothing,
        ]) { $0.loseImage() }
    }

    @Test func onlyTheFirstImageIsExpected() {
        expect([.launching: .launching]) { $0.expect(NextImage(knownAction: 1)) }
    }

    @Test func ourCodeIsWaitedForOnlyWhileItIsDue() {
        expect([.settling: .sampling]) { $0.settle() }
        expect([.settling: .settling]) { $0.failToSettle() }
    }

    @Test func execsAreFollowedWhereOurCodeAnnouncesThem() {
        expect([.sampling: .following, .following: .following]) { $0.follow(execution) }
        expect([.following: .sampling]) { $0.abandonExecution() }
    }

    @Test func recordingsEndOnce() {
        expect([
            .launching: .leavingNothing, .settling: .leaving, .sampling: .leaving,
            .following: .leaving,
        ]) { $0.leave() }
        var ends = Dictionary(uniqueKeysWithValues: Name.allCases.map { ($0, Name.over) })
        ends[.over] = nil
        expect(ends) { $0.end(.exited(3)) }
    }

    // MARK: What goes along

    @Test func theFirstOutcomeCounts() {
        var stage = Stage.sampling(image)
        stage.end(.exited(3))
        stage.end(.running)
        #expect(stage.outcome == .exited(3))
        #expect(stage.image == nil)
    }

    @Test func theThirdFailureIsTheLast() {
        var stage = Stage.settling(image, failures: 0)
        let isTriedAgain = [stage.failToSettle(), stage.failToSettle()]
        #expect(isTriedAgain == [true, true])
        #expect(stage.isSettling)
        let isTriedForever = stage.failToSettle()
        #expect(!isTriedForever)
        #expect(!stage.isSettling)
        #expect(stage.image === image)
    }

    @Test func memoryLeftToTheNextImageReachesIt() throws {
        var stage = Stage.sampling(image)
        let area = try #require(AgentMemory(stackBytes: 4096))
        var announced = execution
        announced.area = InheritedAgent(area: area, descriptor: 200)
        stage.follow(announced)
        #expect(stage.image === image)
        #expect(stage.execution?.deadline == execution.deadline)
        stage.loseImage()
        #expect(stage.next.area?.area === area)
        #expect(stage.execution == nil)
        stage.begin(other)
        #expect(stage.image === other)
        // The one after it has to make its own.
        stage.loseImage()
        #expect(stage.next.area == nil)
    }

    @Test func anAbandonedExecLeavesNothing() throws {
        var stage = Stage.sampling(image)
        stage.follow(
            Execution(
                area: InheritedAgent(
                    area: try #require(AgentMemory(stackBytes: 4096)), descriptor: 200),
                deadline: execution.deadline))
        stage.abandonExecution()
        #expect(stage.image === image)
        stage.loseImage()
        #expect(stage.next.area == nil)
    }

    /// Nothing can be handed to an image that runs already.
    @Test func aLateImageIsWaitedFor() throws {
        var stage = Stage.following(
            image,
            Execution(
                area: InheritedAgent(
                    area: try #require(AgentMemory(stackBytes: 4096)), descriptor: 200),
                deadline: execution.deadline))
        #expect(!stage.hasMissedExec)
        let executed = MonotonicTime(nanoseconds: 9)
        stage.loseImage(isLate: true, executed: executed)
        #expect(stage.hasMissedExec && stage.next.executed == executed)
        #expect(stage.next.area == nil)
        // It may be reported after all.
        stage.loseImage()
        #expect(stage.hasMissedExec)
        stage.begin(other, isToBeJoined: true)
        #expect(!stage.hasMissedExec)
        #expect(stage.isSettling)
    }

    /// While our code is taken back, the program may execute another one.
    @Test func execsWhileLeaving() {
        var stage = Stage.following(image, execution)
        stage.leave()
        #expect(stage.image === image)
        #expect(stage.execution != nil)
        stage.loseImage()
        stage.begin(other)
        #expect(stage.image === other)
        #expect(stage.execution == nil)
        stage.end(.running)
        #expect(stage.outcome == .running)
    }

    @Test func anImagesObjectsGoWithIt() {
        weak var gone: RunningImage?
        var stage = Stage.launching(NextImage())
        do {
            let short = RunningImage(start: MonotonicTime(nanoseconds: 3))
            gone = short
            stage.begin(short)
        }
        #expect(gone != nil)
        stage.loseImage()
        #expect(gone == nil)
    }
}

import Glibc
import ProfileModel
import Testing

@testable import ProcessIO
@testable import Readiness
@testable import Sampler

/// Which of several made processes a report belongs to.
@Suite struct ProcessGroupTests {
    private let process = MadeProcess()
    private let child = MadeProcess(pid: MadeProcess.firstPID + 100)
    private let sink = RecordingSink()
    private let children = Children()

    private final class Children: ChildObserver, @unchecked Sendable {
        var sinks: [Int32: RecordingSink] = [:]
        var parents: [Int32: Int32] = [:]
        var ended: [Int32: Recording.Outcome] = [:]

        func began(_ pid: Int32, parent: Int32, at time: MonotonicTime) -> (any SampleSink)? {
            let sink = RecordingSink()
            sinks[pid] = sink
            parents[pid] = parent
            return sink
        }

        var times: [Int32: MonotonicTime] = [:]

        func ended(_ pid: Int32, _ outcome: SamplerOutcome, at time: MonotonicTime) {
            ended[pid] = outcome.outcome
            times[pid] = time
        }
    }

    private func group(following: Bool) throws -> ProcessGroup {
        var options = SamplerOptions(capture: .ptrace, followsChildren: following)
        options.asksScheduler = false
        process.others[child.pid] = child
        process.parents[child.pid] = process.pid
        let group = ProcessGroup(
            process, options: options, sink: sink, children: following ? children : nil,
            ready: try ReadyWatch(launching: []), machine: MachineLoad())
        try group.main.parts.beginnings.beginAttached {}
        return group
    }

    private func fork() {
        process.main.message = UInt64(child.pid)
        process.main.stop()
        process.tell(.forked, of: process.pid)
    }

    @Test func aForkedChildIsFollowed() throws {
        let group = try group(following: true)
        fork()
        group.takeChanges()
        #expect(children.parents == [child.pid: process.pid])
        #expect(children.sinks[child.pid]?.started == [child.pid])
        #expect(children.sinks[child.pid]?.borders == [.spawned, .firstInstruction, .main])
        #expect(!process.main.isStopped)
        process.tell(.exited(status: 5), of: child.pid)
        group.takeChanges()
        // No thread is stopped while that is reported.
        #expect(children.ended.isEmpty)
        let end = process.now
        process.pause(microseconds: 800)
        group.closeEnded()
        #expect(children.ended == [child.pid: .exited(5)])
        #expect(children.times == [child.pid: end])
        #expect(group.main.outcome == nil)
    }

    /// It is stopped until its parent reports it, which happens at once.
    @Test func aChildsFirstStopMayComeBeforeItsParentsReport() throws {
        let group = try group(following: true)
        child.main.stop()
        process.tell(.stopped, of: child.pid)
        group.takeChanges()
        #expect(children.parents.isEmpty && child.main.isStopped)
        fork()
        group.takeChanges()
        #expect(children.parents == [child.pid: process.pid])
        #expect(!child.main.isStopped && !process.main.isStopped)
        #expect(children.sinks.count == 1)
    }

    /// A parent that is killed in its fork never reports its child.
    @Test func anUnreportedChildIsFollowedAtTheNextTick() throws {
        let group = try group(following: true)
        child.main.stop()
        process.tell(.stopped, of: child.pid)
        group.takeChanges()
        group.claimRest()
        #expect(children.parents == [child.pid: process.pid])
        #expect(!child.main.isStopped)
        // It is reported after all.
        fork()
        group.takeChanges()
        #expect(children.sinks.count == 1)
    }

    @Test func aChildThatEndedBeforeItsParentsReportDoesNotBeginOnceMore() throws {
        let group = try group(following: true)
        child.main.stop()
        process.tell(.stopped, of: child.pid)
        group.takeChanges()
        group.claimRest()
        process.tell(.exited(status: 0), of: child.pid)
        fork()
        group.takeChanges()
        group.closeEnded()
        #expect(children.sinks.count == 1)
        #expect(children.ended == [child.pid: .exited(0)])
    }

    /// A forked child runs its parent's program, and may execute another one before that is read.
    @Test func aForkedChildsProgramIsItsParents() throws {
        process.path = "/bin/parent"
        let group = try group(following: true)
        child.path = "/bin/executed-meanwhile"
        fork()
        group.takeChanges()
        #expect(children.sinks[child.pid]?.images == ["/bin/parent"])
        #expect(children.sinks[child.pid]?.mappings == [[]])
    }

    /// The kernel may give an id again while its former owner's end is still to be reported.
    @Test func anIdThatIsGivenAgainIsAnotherChild() throws {
        let group = try group(following: true)
        fork()
        group.takeChanges()
        process.tell(.exited(status: 3), of: child.pid)
        group.takeChanges()
        let first = children.sinks[child.pid]
        fork()
        group.takeChanges()
        #expect(children.ended == [child.pid: .exited(3)])
        #expect(children.sinks[child.pid] !== first)
    }

    /// In either order of the reports.
    @Test(arguments: [true, false])
    func aCloneMayBeAProcess(isStoppedFirst: Bool) throws {
        let group = try group(following: true)
        child.main.stop()
        if isStoppedFirst { process.tell(.stopped, of: child.pid) }
        process.main.message = UInt64(child.pid)
        process.main.stop()
        process.tell(.cloned, of: process.pid)
        if !isStoppedFirst { process.tell(.stopped, of: child.pid) }
        group.takeChanges()
        #expect(children.parents == [child.pid: process.pid])
        #expect(!child.main.isStopped && !process.main.isStopped)
        #expect(child.main.done.last == .resumed(0))
        process.tell(.exited(status: 4), of: child.pid)
        group.takeChanges()
        group.closeEnded()
        #expect(children.ended == [child.pid: .exited(4)])
    }

    @Test func aProcessThatNobodyKnowsIsLeftAlone() throws {
        let group = try group(following: true)
        process.tell(.exited(status: 0), of: 4242)
        group.takeChanges()
        #expect(children.sinks.isEmpty)
        #expect(group.main.outcome == nil)
    }

    @Test func childrenAreLetGoWhereNobodyWantsThem() throws {
        let group = try group(following: false)
        child.main.stop()
        process.tell(.stopped, of: child.pid)
        group.takeChanges()
        #expect(sink.started == [process.pid])
        #expect(group.main.outcome == nil)
    }

    /// A thread that has stopped with Ctrl-Z's signal, and has yet to get it, needs us for that: a
    /// recorder that stopped now would leave the program half stopped.
    @Test func aThreadWithAPendingSignalHasNotStopped() throws {
        let group = try group(following: false)
        #expect(!group.main.context.isProgramStopped)
        process.main.stop()
        #expect(!group.main.context.isProgramStopped)
        process.tell(.signal(SIGTSTP), of: process.pid)
        group.takeChanges()
        #expect(process.main.done.last == .resumed(SIGTSTP))
        #expect(!group.main.context.isProgramStopped)
        process.main.stop()
        #expect(!group.main.context.isProgramStopped)
        process.tell(.groupStop(signal: SIGTSTP), of: process.pid)
        group.takeChanges()
        #expect(group.main.context.isProgramStopped)
        process.tell(.stopped, of: process.pid)
        group.takeChanges()
        #expect(!group.main.context.isProgramStopped)
    }

    @Test func theMainProcessesEndIsTheEnd() throws {
        let group = try group(following: true)
        fork()
        process.tell(.exited(status: 1), of: process.pid)
        process.tell(.exited(status: 2), of: child.pid)
        group.takeChanges()
        #expect(group.main.outcome == .exited(1))
        // Later reports are not handled here.
        #expect(children.ended.isEmpty)
    }
}

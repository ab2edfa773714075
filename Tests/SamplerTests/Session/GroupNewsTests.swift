import ProfileModel
import TestSupport
import Testing

@testable import ProcessIO
@testable import Readiness
@testable import Sampler

/// Children that events report, with made-up processes.
@Suite struct GroupNewsTests {
    private let process = MadeProcess()
    private let child = MadeProcess(pid: 500)
    private let news = ProcessTreeEvents()
    private let children = Children()
    private let group: ProcessGroup

    private final class Children: ChildObserver, @unchecked Sendable {
        var isFull = false
        var began: [Int32] = []
        var parents: [Int32: Int32] = [:]
        var sinks: [RecordingSink] = []
        var ended: [(pid: Int32, outcome: Recording.Outcome, time: MonotonicTime)] = []

        func began(_ pid: Int32, parent: Int32, at time: MonotonicTime) -> (any SampleSink)? {
            guard !isFull else { return nil }
            began.append(pid)
            parents[pid] = parent
            sinks.append(RecordingSink())
            return sinks.last
        }

        func ended(_ pid: Int32, _ outcome: SamplerOutcome, at time: MonotonicTime) {
            ended.append((pid, outcome.outcome, time))
        }
    }

    init() throws {
        var options = SamplerOptions(followsChildren: true)
        options.asksScheduler = false
        process.others[child.pid] = child
        child.path = "/made/child"
        group = ProcessGroup(
            process, options: options, sink: RecordingSink(), children: children,
            ready: try ReadyWatch(launching: []), machine: MachineLoad())
        group.main.context.tree = TreeSamples(news: news)
        try group.main.parts.beginnings.beginAttached {}
    }

    // MARK: What happens

    private func tell(_ kind: ProcessTreeEvents.Kind, of pid: Int32 = 500, _ tid: Int32? = nil) {
        process.pass(1)
        child.pass(1)
        news.add(
            ProcessTreeEvents.News(time: process.now, pid: pid, tid: tid ?? pid, kind: kind))
    }

    private func fork(by creator: Int32? = nil) {
        tell(.began(creator: creator ?? process.pid, handle: nil))
    }

    /// So many ticks go by.
    private func look(_ count: Int = 1) {
        for _ in 0..<count {
            group.takeNews()
            for session in group.sessions.values where session !== group.main {
                session.parts.eventFollower.finish(mayWait: true)
                group.closeIfOver(session)
            }
        }
    }

    private var session: ProcessSession? { group.sessions[child.pid] }

    // MARK: Tests

    @Test func oneLife() {
        fork()
        look()
        #expect(children.parents == [child.pid: process.pid])
        #expect(session?.context.isUntraced == true && group.main.context.tracesChildren == false)
        tell(.executed(name: "child"))
        tell(.ended)
        let end = process.now
        // The kind of its end may be reported a little later.
        look()
        #expect(children.ended.isEmpty)
        look(8)
        #expect(children.ended.map(\.pid) == [child.pid])
        #expect(children.ended.first?.outcome == .unknown && children.ended.first?.time == end)
        let sink = children.sinks[0]
        #expect(sink.images == ["/made/first", "/made/child"])
        #expect(
            sink.borders == [
                .spawned, .firstInstruction, .main, .firstInstruction, .ended,
            ])
        #expect(sink.started == [child.pid] && sink.ended.count == 1)
        #expect(group.sessions.count == 1 && group.waitingNews.isEmpty)
    }

    /// Events of different cores come in any order.
    @Test func eventsBeforeTheirForkWait() {
        process.pass(1)
        let time = process.now
        tell(.executed(name: "child"))
        look()
        #expect(children.began.isEmpty && group.waitingNews.count == 1)
        news.add(
            ProcessTreeEvents.News(
                time: time, pid: child.pid, tid: child.pid,
                kind: .began(creator: process.pid, handle: nil)))
        look()
        #expect(children.began == [child.pid] && group.waitingNews.isEmpty)
        #expect(children.sinks[0].images.last == "/made/child")
    }

    /// The fork of a process's parent may have got lost.
    @Test func aForkByAnUnknownProcessIsTheFirstOnes() {
        fork(by: 77)
        look()
        #expect(children.began.isEmpty)
        process.pass(5)
        look()
        #expect(children.parents == [child.pid: process.pid])
    }

    @Test func idsAreGivenAgain() {
        fork()
        tell(.ended)
        fork()
        look()
        #expect(children.began == [child.pid, child.pid])
        #expect(children.ended.map(\.pid) == [child.pid])
        // The event of the first process's end got lost.
        fork()
        look()
        #expect(children.began.count == 3 && children.ended.count == 2)
        #expect(group.sessions.count == 2)
    }

    /// Events of children beyond the limit are not kept waiting.
    @Test func notAllAreFollowed() {
        children.isFull = true
        fork()
        tell(.executed(name: "child"))
        tell(.began(creator: child.pid, handle: nil), of: 501)
        tell(.ended)
        look()
        #expect(group.waitingNews.isEmpty && group.sessions.count == 1)
        #expect(group.refused == [501])
        tell(.ended, of: 501)
        look()
        #expect(group.refused.isEmpty)
    }

    @Test func threadsEndBeforeTheirProcess() {
        fork()
        for tid in 600..<603 as Range<Int32> {
            tell(.began(creator: child.pid, handle: nil), of: child.pid, tid)
        }
        look()
        #expect(children.sinks[0].started == [500, 600, 601, 602])
        #expect(group.childsThread(601)?.tid == 601)
        tell(.ended, of: child.pid, 600)
        tell(.ended, of: child.pid, 601)
        look(6)
        // Nothing is kept of their threads, though the process goes on.
        #expect(children.sinks[0].ended.count == 2 && session?.threads.count == 2)
        #expect(session?.context.eventFollowed?.leaving.isEmpty == true && children.ended.isEmpty)
        tell(.ended)
        look(6)
        #expect(children.ended.isEmpty)
        tell(.ended, of: child.pid, 602)
        look(6)
        #expect(children.ended.count == 1 && children.sinks[0].ended.count == 4)
        #expect(group.childsThread(602) == nil && group.processOfThread.isEmpty)
    }

    /// A thread other than the first executes a program: the first one's end is reported before.
    @Test func anotherThreadTakesTheFirstOnesPlace() {
        fork()
        tell(.began(creator: child.pid, handle: nil), of: child.pid, 600)
        tell(.ended)
        look(8)
        #expect(children.ended.isEmpty)
        tell(.executed(name: "child"))
        look(8)
        #expect(children.ended.isEmpty && session?.threads.values.map(\.tid) == [child.pid])
        tell(.ended)
        look(8)
        #expect(children.ended.count == 1 && children.sinks[0].ended.count == 2)
    }

    /// The first process's own threads, execs and end are noticed in another way.
    @Test func theFirstProcesssEventsAreIgnored() {
        let thread = process.start(process.pid + 1)
        group.main.parts.discovery.addNewThreads(at: process.now)
        let before = group.main.threads.count
        tell(.began(creator: process.pid, handle: nil), of: process.pid, thread.tid)
        tell(.executed(name: ""), of: process.pid)
        tell(.ended, of: process.pid, thread.tid)
        look(8)
        #expect(group.main.threads.count == before && group.waitingNews.isEmpty)
        #expect(children.began.isEmpty && group.main.outcome == nil)
    }

    @Test func nothingBeginsAfterTheEnd() {
        fork()
        let end = process.now
        tell(.began(creator: process.pid, handle: nil), of: 501)
        group.takeNews(upTo: end)
        #expect(children.began == [child.pid] && group.waitingNews.isEmpty)
        session?.parts.eventFollower.leave(at: end)
        #expect(session?.outcome == .running)
    }

    /// With events in any order, nothing stays for ever and no process ends twice.
    @Test(arguments: 1...200) func anyOrder(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        for _ in 0..<60 {
            let pid = Int32.random(in: 500..<504, using: &random)
            let tid = Int32.random(in: 0..<3, using: &random) == 0 ? pid + 100 : pid
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let creator = [process.pid, pid, pid - 1].randomElement(using: &random)
                tell(.began(creator: creator ?? 0, handle: nil), of: pid, tid)
            case 1: tell(.executed(name: ""), of: pid)
            default: tell(.ended, of: pid, tid)
            }
            if Bool.random(using: &random) { look() }
            let running = children.began.count - children.ended.count
            #expect(running == group.sessions.count - 1)
        }
        process.pass(10)
        look(2)
        #expect(group.waitingNews.isEmpty)
        for session in group.sessions.values where session !== group.main {
            session.parts.eventFollower.leave(at: process.now)
            group.closeIfOver(session)
        }
        #expect(group.sessions.count == 1 && children.began.count == children.ended.count)
        for sink in children.sinks {
            #expect(sink.ended.count == sink.started.count)
            #expect(Set(sink.ended).count == sink.ended.count)
            #expect(sink.borders.last == .ended)
        }
    }
}

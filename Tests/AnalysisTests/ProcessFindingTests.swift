import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

/// Findings over a launch's tree of processes: a main thread that waits for its children from 0 to
/// 1,000 ms, and the activities of all its descendants in the meantime.
@Suite struct ProcessFindingTests {
    /// The made-up recording, and its findings.
    private struct Tree {
        var builder = RecordingBuilder(images: [("/bin/sh", 0)])
        private let main: ThreadIndex
        private var pid: Int32 = 100

        init() {
            builder.border(.spawned, 0)
            builder.border(.firstInstruction, 0)
            builder.border(.main, 1)
            builder.border(.ended, 1000)
            main = builder.thread("sh", tid: 100, to: 1000, isMain: true)
            builder.slice(main, at: 0, running: 1, builder.stack("main", "run"))
            builder.slice(main, at: 1, blocked: 999, builder.stack("main", "run"))
        }

        /// A process of a name, with a thread that waits.
        @discardableResult
        mutating func process(
            _ name: String, of parent: ChildIndex? = nil, from start: Int64, to end: Int64
        ) -> ChildIndex {
            pid += 1
            let index = ChildIndex(builder.recording.children.count)
            let parentPid = parent.map { builder.recording.children[$0.rawValue].pid } ?? 100
            builder.recording.children.append(
                ChildProcess(
                    pid: pid, parent: parentPid, parentIndex: parent, name: name,
                    start: RecordingBuilder.at(start), end: RecordingBuilder.at(end),
                    cpu: .milliseconds(1), outcome: .exited(0)))
            let thread = builder.thread(name, tid: pid, from: start, to: end, isMain: true)
            builder.recording.threads[thread.rawValue].child = index
            builder.slice(thread, at: start, running: end - start, builder.stack("main", name))
            return index
        }

        /// The main thread waits for something that is no child.
        mutating func wait(_ kind: WaitReason.Kind, from start: Int64, to end: Int64) {
            builder.wait(
                main, from: start, to: end, WaitReason(kind, detail: nil, owner: nil), call: 202,
                builder.stack("main", "run"))
        }

        /// The main thread waits for a child; nil: for any.
        mutating func wait(for child: ChildIndex?, from start: Int64, to end: Int64) {
            let owner = child.map { builder.recording.children[$0.rawValue].pid }
            builder.wait(
                main, from: start, to: end, WaitReason(.child, detail: nil, owner: owner), call: 61,
                builder.stack("main", "run"))
        }

        var profile: Profile { Profile(builder.recording) }
        var findings: [Finding] { profile.findings() }
    }

    private static func evidence(_ finding: Finding?) -> ProcessEvidence? {
        switch finding?.subject {
        case .processStarts(let evidence), .childrenInSequence(let evidence): evidence
        default: nil
        }
    }

    /// The place is the process that starts them, not that process's parent; the rest of the wait
    /// stays a wait.
    @Test func aScriptThatStartsManyPrograms() throws {
        var tree = Tree()
        let script = tree.process("script", from: 100, to: 600)
        for index in 0..<12 {
            tree.process(
                index % 3 == 0 ? "sed" : "expr", of: script, from: 110 + 10 * Int64(index),
                to: 118 + 10 * Int64(index))
        }
        tree.wait(for: script, from: 100, to: 600)
        let found = tree.findings
        #expect(found.map(\.kind) == [.childWait, .processStarts])
        let finding = try #require(found.last)
        let evidence = try #require(Self.evidence(finding))
        #expect(evidence.parent == 1 && evidence.processes == Array(2...13))
        #expect(evidence.names.map(\.name) == ["expr", "sed"])
        #expect(evidence.names.map(\.count) == [8, 4])
        #expect(finding.saving == .milliseconds(12 * 8))
        // Nothing is counted twice.
        #expect(found[0].saving == .milliseconds(500 - 12 * 8))
        #expect(finding.range == .milliseconds(110)..<(.milliseconds(228)))
    }

    /// The number of other children does not matter if one takes nearly all the time.
    @Test func oneChildThatIsMostOfTheLaunch() throws {
        var tree = Tree()
        for index in 0..<15 {
            let start = 10 + 4 * Int64(index)
            tree.wait(
                for: tree.process("expr", from: start, to: start + 3), from: start, to: start + 3)
        }
        let shell = tree.process("sh", from: 100, to: 950)
        let server = tree.process("mariadbd", of: shell, from: 110, to: 940)
        tree.wait(for: shell, from: 100, to: 950)
        let profile = tree.profile
        let found = profile.findings()
        #expect(found.first?.kind == .dominantProcess)
        #expect(found.first?.subject == .dominantProcess(server.rawValue + 1))
        #expect(found.first?.saving == .milliseconds(830))
        let place = try #require(found.first?.place)
        #expect(profile.frames.function(of: place).name == "mariadbd")
        // The others have the remaining time, and nothing twice.
        #expect(found.dropFirst().allSatisfy { $0.saving <= .milliseconds(170) })
    }

    /// The main thread may wait for a thread that waits for the child, or for the child's output;
    /// not for time.
    @Test(arguments: [(WaitReason.Kind.condition, true), (.pipe, true), (.sleep, false)])
    func anIndirectWaitForAChildIsFound(kind: WaitReason.Kind, isFound: Bool) {
        var tree = Tree()
        let child = tree.process("soffice.bin", from: 200, to: 900)
        tree.wait(kind, from: 190, to: 910)
        let found = tree.findings
        #expect((found.first?.subject == .dominantProcess(child.rawValue + 1)) == isFound)
        #expect(!isFound || found.first?.saving == .milliseconds(700))
        // A program may look again and again whether its child is over.
        if kind == .sleep, case .wait(let evidence)? = found.first?.subject {
            #expect(evidence.child == child.rawValue + 1)
        }
    }

    /// If several computed as long, it is the one that released the semaphore.
    @Test(arguments: [true, false]) func theReleaserOfASemaphoreIsTheWorker(isFirst: Bool) {
        var tree = Tree()
        tree.builder.recording.header.account = .wakeups
        let children = [
            tree.process("tracker", from: 200, to: 900), tree.process("worker", from: 210, to: 900),
        ]
        let one = children[isFirst ? 0 : 1]
        tree.wait(.condition, from: 190, to: 890)
        let waker = tree.builder.recording.threads.firstIndex { $0.child == one }
        tree.builder.wakeup(of: ThreadIndex(0), at: 890, by: waker.map(ThreadIndex.init))
        #expect(tree.findings.first?.subject == .dominantProcess(one.rawValue + 1))
    }

    /// Ten children of equal length are a matter of their number.
    @Test func noneOfManyIsTheOne() {
        var tree = Tree()
        for index in 0..<10 {
            let start = 10 + 95 * Int64(index)
            tree.wait(
                for: tree.process("step", from: start, to: start + 94), from: start, to: start + 94)
        }
        #expect(!tree.findings.map(\.kind).contains(.dominantProcess))
    }

    @Test func fewProcessesAreNone() {
        var tree = Tree()
        let script = tree.process("script", from: 100, to: 600)
        for index in 0..<9 {
            tree.process(
                "expr", of: script, from: 110 + 10 * Int64(index), to: 114 + 10 * Int64(index))
        }
        tree.wait(for: script, from: 100, to: 600)
        #expect(tree.findings.map(\.kind) == [.childWait])
    }

    /// A process that is not waited for costs the launch nothing.
    @Test func aProcessThatIsNotWaitedForIsNoFinding() {
        var tree = Tree()
        let daemon = tree.process("daemon", from: 100, to: 600)
        for index in 0..<20 {
            tree.process(
                "expr", of: daemon, from: 110 + 10 * Int64(index), to: 120 + 10 * Int64(index))
        }
        #expect(tree.findings.isEmpty)
        let other = tree.process("other", from: 700, to: 900)
        tree.wait(for: other, from: 700, to: 900)
        #expect(tree.findings.map(\.kind) == [.childWait])
    }

    @Test func childrenOneAfterTheOther() throws {
        var tree = Tree()
        for start in [100, 250, 500] as [Int64] {
            let child = tree.process("convert", from: start, to: start + 100)
            tree.wait(for: child, from: start, to: start + 100)
        }
        let found = tree.findings
        #expect(found.map(\.kind) == [.childrenInSequence, .childWait])
        #expect(found.map(\.saving) == [.milliseconds(200), .milliseconds(100)])
        #expect(Self.evidence(found.first)?.processes == [1, 2, 3])
        #expect(Self.evidence(found.first)?.parent == 0)
    }

    /// Processes that overlap start at once already; a short one costs nothing; one that was not
    /// waited for delayed nothing.
    @Test func childrenAtOnceAreNone() {
        var tree = Tree()
        tree.process("one", from: 100, to: 300)
        tree.process("two", from: 200, to: 400)
        tree.process("short", from: 450, to: 454)
        tree.process("alone", from: 500, to: 600)
        tree.process("unawaited", from: 700, to: 900)
        tree.wait(for: nil, from: 100, to: 600)
        #expect(tree.findings.map(\.kind) == [.childWait])
    }

    /// The main thread runs, and waits for core 1 from 200 to 500.
    private static func contended(on core: Int32?, until end: Int64 = 1000) -> Tree {
        var tree = Tree()
        let main = ThreadIndex(0)
        tree.builder.runs(main, from: 0, (.running, until: 200), (.preempted, until: 500))
        tree.builder.runs(main, from: 500, (.running, until: 1000))
        tree.builder.recording.runs.edit { runs in
            for index in runs.indices where runs[index].state == .running { runs[index].core = 1 }
        }
        tree.process("indexer", from: 100, to: 450)
        tree.builder.runs(
            ThreadIndex(1), from: 100, (.blocked, until: 300), (.running, until: min(400, end)))
        tree.builder.recording.runs.edit { runs in runs[runs.count - 1].core = core }
        tree.builder.recording.header.account = .wakeups
        return tree
    }

    @Test func anUnneededProcessOnTheLaunchsCore() throws {
        let found = Self.contended(on: 1).findings
        let finding = try #require(found.first { $0.kind == .unawaitedProcess })
        #expect(finding.saving == .milliseconds(100))
        #expect(finding.range == .milliseconds(300)..<(.milliseconds(400)))
        #expect(finding.subject == .unawaitedProcess(1) && finding.thread == 1)
    }

    /// On another core, on one that is not known, or for less than counts.
    @Test(arguments: [(0, 1000), (nil, 1000), (1, 310)] as [(Int32?, Int64)])
    func aProcessOnAnotherCoreIsNoFinding(core: Int32?, end: Int64) {
        #expect(
            !Self.contended(on: core, until: end).findings.map(\.kind).contains(.unawaitedProcess))
    }

    /// A process for which the launch waited at some time has its core by right.
    @Test func aProcessThatIsWaitedForLaterIsNoFinding() {
        var tree = Self.contended(on: 1)
        tree.builder.recording.runs.edit { runs in runs.removeAll { $0.thread == ThreadIndex(0) } }
        tree.builder.runs(
            ThreadIndex(0), from: 0, (.running, until: 200), (.preempted, until: 410))
        tree.builder.runs(
            ThreadIndex(0), from: 410, (.blocked, until: 450), (.running, until: 1000))
        tree.wait(for: ChildIndex(0), from: 410, to: 450)
        #expect(!tree.findings.map(\.kind).contains(.unawaitedProcess))
    }

    /// A member of a pipeline that the launch waits for waits for the member before it.
    @Test func aMemberOfAnAwaitedPipelineIsNoFinding() {
        var tree = Self.contended(on: 1)
        let indexer = tree.builder.recording.children[0].pid
        tree.process("reader", from: 10, to: 900)
        let reader = tree.builder.recording.children[1].pid
        tree.builder.wait(ThreadIndex(0), from: 20, to: 40, WaitReason(.pipe, owner: reader))
        tree.builder.wait(ThreadIndex(2), from: 120, to: 150, WaitReason(.pipe, owner: indexer))
        #expect(!tree.findings.map(\.kind).contains(.unawaitedProcess))
    }

    /// A launch ends with the end of its pipeline, though no thread waits for that at length.
    @Test(
        arguments: [(960, true, false), (940, true, true), (960, false, true)]
            as [(Int64, Bool, Bool)])
    func theEndOfAPipelineIsAwaited(end: Int64, reads: Bool, isFound: Bool) {
        var tree = Self.contended(on: 1)
        tree.builder.recording.children[0].end = RecordingBuilder.at(end)
        if reads {
            tree.builder.wait(ThreadIndex(1), from: 120, to: 150, WaitReason(.pipe, owner: 100))
        }
        #expect(tree.findings.map(\.kind).contains(.unawaitedProcess) == isFound)
    }

    /// A child's end ends its parent's wait, though the parent waited for another child.
    @Test func aParentThatWaitsForAnotherChild() {
        var tree = Self.contended(on: 1)
        tree.builder.wait(ThreadIndex(0), from: 20, to: 40, WaitReason(.child))
        tree.builder.wakeup(of: ThreadIndex(0), at: 40, by: ThreadIndex(1))
        #expect(tree.findings.map(\.kind).contains(.unawaitedProcess))
    }

    /// A third of the launch is enough for one that has the CPU time.
    @Test(arguments: [(400, true), (100, false)] as [(Int64, Bool)])
    func aThirdOfTheLaunch(cpu: Int64, isFound: Bool) {
        var tree = Tree()
        let server = tree.process("postgres", from: 100, to: 500)
        tree.process("sh", from: 600, to: 700)
        tree.builder.recording.children[0].cpu = .milliseconds(cpu)
        tree.wait(for: server, from: 100, to: 500)
        #expect((tree.findings.first?.subject == .dominantProcess(1)) == isFound)
    }

    /// All members of a pipeline live as long: the one that computes is the subject.
    @Test func ofAPipelineItIsWhoComputes() throws {
        var tree = Tree()
        tree.process("sort", from: 10, to: 880)
        tree.process("uniq", from: 10, to: 900)
        tree.builder.recording.children[0].cpu = .milliseconds(800)
        tree.builder.recording.children[1].cpu = .milliseconds(20)
        tree.wait(for: nil, from: 10, to: 900)
        #expect(tree.findings.first?.subject == .dominantProcess(1))
    }

    /// Hostile data: parents that come after their children in the list, ends before starts.
    @Test func aTreeThatIsNone() {
        var tree = Tree()
        for index in 0..<40 {
            tree.process("x", from: 500, to: 100 + Int64(index))
            tree.builder.recording.children[index].parentIndex = ChildIndex((index + 1) % 40)
        }
        tree.wait(for: nil, from: 0, to: 1000)
        #expect(tree.findings.count <= FindingSearch.most)
    }
}

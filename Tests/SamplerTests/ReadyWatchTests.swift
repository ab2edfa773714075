import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import ProcessIO
@testable import Readiness
@testable import Sampler

@Suite struct ReadyWatchTests {
    @Test(arguments: [
        ("READY=1", true), ("STATUS=x\nREADY=1\n", true), ("READY=1\nMAINPID=4", true),
        ("READY=0", false), ("READY=10", false), ("XREADY=1", false), ("STATUS=READY=1", false),
        ("", false), ("\n\n", false), ("READY=1 ", false),
    ])
    func notifications(message: String, isReady: Bool) {
        #expect(Notification.saysReady(Array(message.utf8)) == isReady)
    }

    /// 1 ← 10 ← 20 ← 30; 40's parent is gone; 50 and 51 are each other's.
    @Test func ancestries() {
        let parents: [Int32: Int32] = [10: 1, 20: 10, 30: 20, 40: 39, 50: 51, 51: 50]
        func isWithin(_ pid: Int32, _ root: Int32) -> Bool? {
            Ancestry.isWithin(pid, root) { parents[$0] }
        }
        #expect(isWithin(10, 10) == true)
        #expect(isWithin(30, 10) == true)
        #expect(isWithin(10, 30) == false)
        #expect(isWithin(40, 10) == nil)
        #expect(isWithin(99, 10) == nil)
        #expect(isWithin(50, 10) == false)
        #expect(isWithin(0, 10) == false)
    }

    @Test func conditionsInTheirOwnWords() {
        let words: [(ReadyCondition, String)] = [
            (.exit, "exit"), (.notify, "notify"), (.listen(port: nil), "listen"),
            (.listen(port: 80), "listen:80"), (.output(text: nil), "output"),
            (.output(text: "a:b"), "output:a:b"), (.window, "window"),
            (.idle(.milliseconds(200)), "idle:200ms"), (.idle(.milliseconds(120_000)), "idle:2m"),
            (.idle(TimeSpan(nanoseconds: 1_500)), "idle:1500ns"),
            (.signpost("x"), "signpost:x"), (.mark("y"), "mark:y"),
        ]
        for (condition, text) in words { #expect(condition.description == text) }
    }

    /// What others see counts if it was asked for, and the first time.
    @Test func signpostsAndMarks() throws {
        let watch = try ReadyWatch(attachingFor: [.signpost("shown"), .mark("loaded")])
        let session = ProcessSession(
            KernelProcess(pid: 1), options: SamplerOptions(), sink: NoSink())
        func time(_ count: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: count) }
        watch.saw(signpost: "other", at: time(1))
        watch.saw(mark: "shown", at: time(2))
        #expect(watch.look(at: time(3), in: session.context) == nil)
        watch.saw(mark: "loaded", at: time(4))
        watch.saw(signpost: "shown", at: time(5))
        let found = watch.look(at: time(6), in: session.context)
        #expect(found == Readiness(time: time(4), by: "mark:loaded"))
    }

    /// When it was seen counts, not when the tick began: the program may have come to `main` meanwhile.
    @Test func aSocketListensWhenItIsSeenTo() throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        // Without a name it gets one of its own.
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let family = socklen_t(MemoryLayout<sa_family_t>.size)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                #expect(bind(descriptor, $0, family) == 0)
            }
        }
        #expect(listen(descriptor, 1) == 0)
        let process = MadeProcess()
        let session = ProcessSession(process, options: SamplerOptions(), sink: NoSink())
        let source = ListenSource(port: nil, ignoresInherited: false)
        source.began(getpid())
        let tick = process.now
        process.pass(3)
        #expect(source.look(at: tick, in: session.context) == process.now)
    }

    private final class NoSink: SampleSink {
        func receive(_ event: SamplerEvent) {}
        func takeRefinements() -> [StackRefinement] { [] }
        var hasFailed: Bool { false }
    }

    @Test func aBudgetOfLooks() {
        var now = MonotonicTime(nanoseconds: 0)
        var budget = LookBudget(at: now)
        var spent = TimeSpan.zero
        let cost = TimeSpan(nanoseconds: 40_000)
        for _ in 0..<100_000 {
            now = now + .milliseconds(1)
            guard budget.allows(at: now) else { continue }
            budget.spend(cost)
            spent = spent + cost
        }
        // A hundredth of 100 s, the advance, and the last look.
        #expect(spent <= .milliseconds(1_000) + LookBudget.most + cost)
        #expect(spent >= .milliseconds(990))
        // One that took very long does not keep the next away for ever.
        budget.spend(.milliseconds(10_000))
        let isAllowedSoon = budget.allows(at: now + .milliseconds(1))
        let isAllowedLater = budget.allows(at: now + .milliseconds(25))
        #expect(!isAllowedSoon && isAllowedLater)
    }

    private final class MadeView: LaunchView {
        let now = MonotonicTime(nanoseconds: 0)
        /// What each question is answered with, and all that follow the last.
        var signatures: [UInt64?] = [7]
        var blockedSignature: UInt64? {
            signatures.count > 1 ? signatures.removeFirst() : signatures[0]
        }
        var waitsForDisk = false
        func note(_ kind: RecorderNote.Kind) {}
    }

    @Test func aLongBlockedProcessIsIdle() {
        let view = MadeView()
        let source = IdleSource(.milliseconds(20))
        func look(_ time: Int64) -> MonotonicTime? {
            source.look(at: MonotonicTime(nanoseconds: time * 1_000_000), in: view)
        }
        #expect(look(1) == nil && look(20) == nil)
        view.waitsForDisk = true
        #expect(look(21) == nil)
        view.waitsForDisk = false
        #expect(look(22) == nil && look(41) == nil)
        #expect(look(42) == MonotonicTime(nanoseconds: 22_000_000))
    }

    /// Its page came between the two questions: a busy machine took a process for idle that had not
    /// executed its program yet.
    @Test func aThreadThatGoesOnMeanwhileIsNotIdle() {
        let view = MadeView()
        let source = IdleSource(.milliseconds(20))
        func look(_ time: Int64) -> MonotonicTime? {
            source.look(at: MonotonicTime(nanoseconds: time * 1_000_000), in: view)
        }
        view.signatures = [7, 7, nil, 8]
        #expect(look(1) == nil && look(21) == nil)
        #expect(look(22) == nil)
        #expect(look(42) == MonotonicTime(nanoseconds: 22_000_000))
    }

    @Test func signaturesOfIdleness() {
        func signature(_ threads: [(Int32, UInt32?)]) -> UInt64? {
            IdleSource.signature(of: threads)
        }
        #expect(signature([]) == nil)
        #expect(signature([(1, nil)]) == nil)
        #expect(signature([(1, 2), (3, nil)]) == nil)
        #expect(signature([(1, 2), (3, 4)]) == signature([(3, 4), (1, 2)]))
        var seen: Set<UInt64> = []
        for tid in Int32(1)...60 {
            for serial in UInt32(1)...60 {
                if let value = signature([(tid, serial), (100, 1)]) { seen.insert(value) }
            }
        }
        #expect(seen.count == 3_600)
    }
}

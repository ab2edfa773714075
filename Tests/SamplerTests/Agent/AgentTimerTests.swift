import Architecture
import CAgent
import CSystem
import Glibc
import ProfileModel
import Synchronization
import TestSupport
import Testing

@testable import Agent
@testable import Sampler

/// The kernel's timers, and how the area's code handles their signals: each test in a process of
/// its own, whose thread is sampled.
extension AgentSignalTests {
    private static func timer(
        _ slots: SharedSlots, own: [Int]
    ) throws -> SignalTimer {
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        return try #require(
            try SignalTimer(
                tid: OwnSignposts.thread, sending: signal, masks: 0, each: .milliseconds(1),
                own: own, in: slots))
    }

    /// Computes until something holds, or for a second of CPU time.
    private static func compute(until isOver: () -> Bool) -> Bool {
        func used() -> Int {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
        }
        let start = used()
        while used() - start < 1000 { if isOver() { return true } }
        return isOver()
    }

    @Test(.enabled(if: mayInterrupt, "perf events are not permitted here"))
    func aTimersSignalsAreAnsweredInTheThreadsSlots() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory(stackBytes: 8192)
            mapped.settle { $0.signal = (Self.signal, 0) }
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            let own = (0..<3).compactMap { _ in slots.take() }
            let timer = try Self.timer(slots, own: own)
            let stack = Self.stack()
            #expect(own.count == 3)
            for slot in own {
                #expect(slots.arm(slot, stack: stack, limit: 8192, frames: 0))
            }
            timer.allow(3)
            #expect(Self.compute { own.allSatisfy { slots.state(of: $0) == .filled } })
            #expect(Self.outstanding(mapped.area) == 0)
            let answers = own.map(slots.takeAnswer)
            #expect(answers.map(\.time) == answers.map(\.time).sorted())
            // The timer sends as many as it may.
            #expect(own.allSatisfy { slots.arm($0, stack: stack, limit: 8192, frames: 0) })
            #expect(!Self.compute { own.contains { slots.state(of: $0) == .filled } })
            timer.allow(1)
            #expect(Self.compute { slots.state(of: own[0]) == .filled })
            #expect(!Self.compute { slots.state(of: own[1]) == .filled })
            // One for each interval of its CPU time.
            for (answer, next) in zip(answers, answers.dropFirst()) {
                #expect(next.cpu - answer.cpu > 500_000)
            }
            for answer in answers {
                #expect(stack.contains(answer.registers.stackPointer))
                #expect(!answer.stack.bytes.isEmpty && !answer.isOnAlternateStack)
            }
        }
    }

    /// A late signal may find the descriptor's number given to another thread's timer.
    @Test(
        .enabled(if: mayInterrupt, "perf events are not permitted here"),
        arguments: ["thread", "descriptor", "slot"])
    func onlyTheThreadsOwnTimerCounts(other: String) async {
        await #expect(processExitsWith: .success) { [other] in
            let mapped = try MappedAgentMemory()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let area = mapped.area
            let slots = SharedSlots(area: area, cookie: Self.cookie)
            let own = [try #require(slots.take())]
            let timer = try Self.timer(slots, own: own)
            // The timer's place is the first; that is given to another timer.
            let entry = area.read(fl_state.self, at: Int(FL_STATE)).timers.0
            let descriptor = Int32(bitPattern: entry.descriptor) - 1
            area.removeTimer(0, descriptor: descriptor)
            let tid = OwnSignposts.thread
            let place = area.addTimer(
                tid: other == "thread" ? tid + 1 : tid, signal: Self.signal,
                descriptor: other == "descriptor" ? descriptor + 1 : descriptor,
                slots: other == "slot" ? [] : own)
            #expect(place == 0)
            #expect(slots.arm(own[0], stack: 0..<0, limit: 64, frames: 0))
            timer.allow(1000)
            var looks = 0
            #expect(
                !Self.compute {
                    looks += 1
                    return slots.state(of: own[0]) != .requested
                })
            #expect(looks > 0)
        }
    }

    @Test(.enabled(if: mayInterrupt, "perf events are not permitted here"))
    func aTimerThatEndedSendsNothing() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            let own = [try #require(slots.take())]
            var timer: SignalTimer? = try Self.timer(slots, own: own)
            timer?.allow(1000)
            timer = nil
            #expect(mapped.area.read(fl_state.self, at: Int(FL_STATE)).timers.0.tid == 0)
            #expect(slots.arm(own[0], stack: 0..<0, limit: 64, frames: 0))
            #expect(!Self.compute { slots.state(of: own[0]) != .requested })
        }
    }

    @Test func thereIsRoomForSomeTimers() throws {
        let area = try #require(AgentMemory(stackBytes: 4096))
        area.fill(AgentMemory.Contents(place: 0, recorder: 0, cookie: 1))
        let places = (0..<Int32(AgentMemory.mostTimers)).map {
            area.addTimer(tid: 100 + $0, signal: 1, descriptor: $0, slots: [Int($0)])
        }
        #expect(places == (0..<AgentMemory.mostTimers).map { $0 })
        #expect(area.addTimer(tid: 7, signal: 2, descriptor: 7, slots: []) == nil)
        // A place that belongs to another timer stays.
        area.removeTimer(3, descriptor: 4)
        area.removeTimer(-1, descriptor: 0)
        area.removeTimer(AgentMemory.mostTimers, descriptor: 0)
        #expect(area.addTimer(tid: 7, signal: 2, descriptor: 7, slots: []) == nil)
        area.removeTimer(3, descriptor: 3)
        #expect(area.addTimer(tid: 7, signal: 2, descriptor: 9, slots: Array(1...9)) == 3)
        let entry = area.read(fl_state.self, at: Int(FL_STATE)).timers.3
        #expect(entry.tid == 7 && entry.descriptor == 10)
        #expect(entry.slots.0 == 1 && entry.slots.7 == 8 && entry.signal == 2)
    }

    /// The recorder ends the timer, in time or not at all. Other threads' timers do not matter.
    @Test(arguments: ["mask", "other's mask", "action", "other's action"])
    func aThreadThatChangesTheSignalWaitsForTimers(what: String) async {
        await #expect(processExitsWith: .success) { [what] in
            let mapped = try MappedAgentMemory()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let (_, calls) = try Self.calls(past: mapped)
            let own = what == "other's mask" ? OwnSignposts.thread + 1 : OwnSignposts.thread
            let place = mapped.area.addTimer(
                tid: own, signal: what == "other's action" ? 1 : Self.signal, descriptor: 3,
                slots: [])
            #expect(place == 0)
            func change() {
                if what.hasSuffix("action") {
                    var ignored = Action(handler: 1, flags: 0, restorer: 0, mask: 0)
                    let sigaction = calls[CallSites.Call.sigaction.index]
                    #expect(sigaction(Int(Self.signal), &ignored, nil) == 0)
                } else {
                    var set: UInt64 = 1 << UInt64(Self.signal - 1)
                    let sigmask = calls[CallSites.Call.sigmask.index]
                    #expect(sigmask(Int(SIG_BLOCK), &set, nil) == 0)
                }
            }
            var before = Self.naps()
            change()
            #expect((Self.naps() - before >= 100) == !what.hasPrefix("other's"))
            // No recorder came: the thread waits only once.
            before = Self.naps()
            change()
            #expect(Self.naps() - before < 50)
            #expect(mapped.area.value(\.masking) == 0)
        }
    }

    /// A thread that never blocks the signal as it has announced is not counted any more.
    @Test func anAnnouncementWithoutAMaskIsForgotten() {
        var count = MaskingCount()
        let start = MonotonicTime(nanoseconds: 1000)
        let long = MaskingCount.longest + .milliseconds(1)
        let looks: [(count: UInt32, masks: UInt32, time: MonotonicTime, isMasking: Bool)] = [
            (0, 0, start, false), (1, 1, start, true), (1, 1, start + MaskingCount.longest, true),
            // Other threads did in the meantime.
            (1, 2, start + long, true), (1, 2, start + long + long, false), (1, 3, start, false),
            // One more thread, beside it; and a child that was never counted.
            (2, 4, start, true), (.max, 4, start, true),
        ]
        for look in looks {
            let isMasking = count.look(look.count, at: look.masks, now: look.time)
            #expect(isMasking == look.isMasking, "\(look)")
        }
    }
}

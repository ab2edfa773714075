import CAgent
import CSystem
import Glibc
import ProfileModel
import Testing

@testable import Agent
@testable import ProcessIO
@testable import Sampler

/// A thread that is about to block a signal of ours, or to set an action for it, waits for pending
/// requests: each test in a process of its own.
extension AgentSignalTests {
    /// How often this thread has slept so far.
    static func naps() -> Int {
        var usage = rusage()
        getrusage(__rusage_who_t(1), &usage)  // RUSAGE_THREAD
        return usage.ru_nvcsw
    }

    /// A thread that changes its own mask does not wait for other threads' requests.
    @Test func othersRequestsAreNotWaitedFor() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let (_, calls) = try Self.calls(past: mapped)
            let sigmask = calls[CallSites.Call.sigmask.index]
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            #expect(slots.request(0, stack: 0..<0, limit: 64, masks: 0) == .ready)
            slots.wasSent()
            let before = Self.naps()
            var set: UInt64 = 1 << UInt64(Self.signal - 1)
            for count in 1...100 {
                #expect(sigmask(Int(SIG_BLOCK), &set, nil) == 0)
                #expect(slots.masks == count)
            }
            #expect(Self.naps() - before < 50)
            #expect(Self.outstanding(mapped.area) == 1)
        }
    }

    /// A request that was counted and never answered, as the recorder was killed, is waited for
    /// once.
    @Test func aRequestThatNobodyAnswersIsForgotten() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            Self.settleWithSpare(mapped)
            let (_, calls) = try Self.calls(past: mapped)
            let sigmask = calls[CallSites.Call.sigmask.index]
            let sigaction = calls[CallSites.Call.sigaction.index]
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            #expect(slots.request(0, stack: 0..<0, limit: 64, masks: 0) == .ready)
            var set: UInt64 = .max
            var start = Self.naps()
            #expect(sigmask(Int(SIG_SETMASK), &set, nil) == 0)
            #expect(Self.naps() - start >= 100)
            start = Self.naps()
            for _ in 0..<5 { #expect(sigmask(Int(SIG_SETMASK), &set, nil) == 0) }
            #expect(Self.naps() - start < 50)
            var ignored = Action(handler: 1, flags: 0, restorer: 0, mask: 0)
            #expect(sigaction(Int(Self.signal), &ignored, nil) == 0)
            start = Self.naps()
            for _ in 0..<5 { #expect(sigaction(Int(Self.signal), &ignored, nil) == 0) }
            #expect(Self.naps() - start < 50)
        }
    }

    /// A recorder that lives may have no core for a while, on a busy machine.
    @Test(arguments: [true, false]) func aRecorderThatLivesHasMoreTime(ofMasks: Bool) async {
        await #expect(processExitsWith: .success) { [ofMasks] in
            let mapped = try MappedAgentMemory()
            mapped.settle {
                $0.signal = (Self.signal, 0)
                $0.recorder = getppid()
            }
            let (_, calls) = try Self.calls(past: mapped)
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            #expect(slots.request(0, stack: 0..<0, limit: 64, masks: slots.masks) == .ready)
            if !ofMasks { slots.wasSent() }
            let before = Self.naps()
            let sender = Sender(
                slots, to: OwnSignposts.thread, by: Self.signal, afterNaps: before + 600)
            try sender.start()
            if ofMasks {
                var set: UInt64 = 1 << UInt64(Self.signal - 1)
                #expect(calls[CallSites.Call.sigmask.index](Int(SIG_BLOCK), &set, nil) == 0)
            } else {
                var ignored = Action(handler: 1, flags: 0, restorer: 0, mask: 0)
                let sigaction = calls[CallSites.Call.sigaction.index]
                #expect(sigaction(Int(Self.signal), &ignored, nil) == 0)
            }
            #expect(Self.naps() - before >= 600)
            #expect(slots.state(of: 0) == .filled)
        }
    }

    /// A signal that is being sent to a thread arrives before the thread blocks it.
    @Test func aSignalThatIsBeingSentIsWaitedFor() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let (_, calls) = try Self.calls(past: mapped)
            let sigmask = calls[CallSites.Call.sigmask.index]
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            #expect(slots.request(0, stack: 0..<0, limit: 64, masks: 0) == .ready)
            let sender = Sender(slots, to: OwnSignposts.thread, by: Self.signal)
            try sender.start()
            var set: UInt64 = 1 << UInt64(Self.signal - 1)
            #expect(sigmask(Int(SIG_BLOCK), &set, nil) == 0)
            #expect(slots.state(of: 0) == .filled)
            var pending = sigset_t()
            sigpending(&pending)
            #expect(sigismember(&pending, Self.signal) == 0)
        }
    }

    /// Sends a request's signal once its thread is about to block it.
    final class Sender {
        private let slots: SharedSlots
        private let tid: Int32
        private let signal: Int32
        private let naps: Int

        /// - Parameter naps: how often the thread has to have slept by then.
        init(_ slots: SharedSlots, to tid: Int32, by signal: Int32, afterNaps naps: Int = 0) {
            (self.slots, self.tid, self.signal, self.naps) = (slots, tid, signal, naps)
        }

        /// Whether the thread is about to block the signal, or to set an action, and has waited.
        private var isTime: Bool {
            guard slots.masks > 0 || slots.isDisplaced else { return false }
            let thread = KernelThread(process: getpid(), tid: tid)
            return naps == 0 || (thread.status()?.voluntary ?? 0) >= Int64(naps)
        }

        func start() throws {
            var thread = pthread_t()
            let own = Unmanaged.passRetained(self).toOpaque()
            let error = pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    let own = Unmanaged<Sender>.fromOpaque(argument).takeRetainedValue()
                    while !own.isTime {}
                    _ = fl_signal_thread(
                        getpid(), own.tid, own.signal, own.slots.value(for: 0))
                    own.slots.wasSent()
                    return nil
                }, own)
            try #require(error == 0)
        }
    }
}

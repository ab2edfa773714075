import CSystem
import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

@Suite struct KernelInterruptionTests {
    /// A thread that has blocked a signal once may block it again before one comes, and find it
    /// pending.
    @Test(.enabled(if: mayInterrupt, "perf events are not permitted here"))
    func signalsThatWereEverBlockedAreNotSent() async {
        await #expect(processExitsWith: .success) {
            func setMask(_ signals: Int32...) {
                var set = sigset_t()
                sigemptyset(&set)
                for signal in signals { sigaddset(&set, signal) }
                pthread_sigmask(SIG_SETMASK, &set, nil)
            }
            setMask()
            let thread = KernelThread(process: getpid(), tid: OwnSignposts.thread)
            #expect(Self.interrupts(thread))
            // The C library, in fork(2) say, or a handler of ours.
            #expect(Self.interruptsInHandler(thread) == false)
            #expect(Self.interrupts(thread))
            setMask(SIGURG)
            #expect(Self.interrupts(thread))
            setMask(SIGWINCH)
            #expect(!Self.interrupts(thread))
            setMask()
            #expect(!Self.interrupts(thread))
            // After an exec earlier blocking does not count.
            thread.reopen()
            #expect(Self.interrupts(thread))
        }
    }

    private static func interrupts(_ thread: KernelThread) -> Bool {
        (try? thread.interruptInOwnCode(each: .milliseconds(1))) != nil
    }

    /// Whether it can be interrupted in a handler that blocks all signals, those, too, that no program
    /// can block by itself.
    private static func interruptsInHandler(_ thread: KernelThread) -> Bool? {
        asked = { interrupts(thread) }
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in
            KernelInterruptionTests.answer = KernelInterruptionTests.asked?()
        }
        memset(&action.sa_mask, 0xFF, MemoryLayout<sigset_t>.size)
        sigaction(SIGUSR1, &action, nil)
        raise(SIGUSR1)
        return answer
    }

    private nonisolated(unsafe) static var asked: (() -> Bool)?
    private nonisolated(unsafe) static var answer: Bool?
}

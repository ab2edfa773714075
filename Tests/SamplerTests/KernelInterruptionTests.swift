import CSystem
import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import Sampler

@Suite struct KernelInterruptionTests {
    /// Who has blocked a signal once may do so again before one comes, and find it pending.
    @Test(.enabled(if: mayInterrupt, "perf events are not permitted here"))
    func whatWasEverBlockedIsNotSent() async {
        await #expect(processExitsWith: .success) {
            func setMask(_ signals: Int32...) {
                var set = sigset_t()
                sigemptyset(&set)
                for signal in signals { sigaddset(&set, signal) }
                pthread_sigmask(SIG_SETMASK, &set, nil)
            }
            setMask()
            let thread = KernelThread(process: getpid(), tid: OwnSignposts.thread)
            #expect(thread.interruptInOwnCode(each: .milliseconds(1)) != nil)
            setMask(SIGURG)
            #expect(thread.interruptInOwnCode(each: .milliseconds(1)) != nil)
            setMask(SIGWINCH)
            #expect(thread.interruptInOwnCode(each: .milliseconds(1)) == nil)
            setMask()
            #expect(thread.interruptInOwnCode(each: .milliseconds(1)) == nil)
            // Another program is another matter.
            thread.reopen()
            #expect(thread.interruptInOwnCode(each: .milliseconds(1)) != nil)
        }
    }
}

import CSystem
import Glibc
import ProfileModel
import System
import Testing

@testable import Sampler

/// When and how the sampler goes to another core.
@Suite struct CPUAvoidanceTests {
    private static func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 7_000_000_000) + .milliseconds(milliseconds)
    }

    /// The times, in milliseconds, of moves if there is reason for one at each of `times`.
    private func moves(_ times: some Sequence<Int64>) -> [Int64] {
        let core = CPUAvoidance()
        return times.filter { time in
            guard core.isDue(at: Self.at(time)) else { return false }
            core.moved(at: Self.at(time))
            return true
        }
    }

    @Test func moreAndMoreRarelyIfItIsOfNoUse() {
        #expect(moves(0..<300) == [0, 2, 6, 14, 30, 62, 126, 254])
    }

    @Test func neverTooRarely() {
        let late = moves(stride(from: 0, to: 10_000, by: 1)).suffix(4)
        #expect(zip(late, late.dropFirst()).allSatisfy { $1 - $0 == 512 })
    }

    @Test func atOnceIfTheLastMoveHelped() {
        #expect(moves([0, 2, 30, 32, 60, 62]) == [0, 2, 30, 32, 60, 62])
    }

    @Test func aLookIsNotRepeatedAtOnce() {
        let core = CPUAvoidance()
        core.looked(at: Self.at(5))
        #expect(!core.isDue(at: Self.at(5)) && !core.isDue(at: Self.at(6)))
        #expect(core.isDue(at: Self.at(7)))
    }

    /// The cores on which the calling thread may run, as the kernel writes them: `0-3,8`.
    private func allowedCores() -> String? {
        let status = try? WholeFile.bytes(of: "/proc/thread-self/status", limit: 65536)
        let line = String(decoding: status ?? [], as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("Cpus_allowed_list:") }
        return line.map { String($0.dropFirst(18)).filter { !$0.isWhitespace } }
    }

    @Test func allCoresStayAllowed() throws {
        let thread = try #require(
            JobThread { () -> Bool in
                guard let before = allowedCores() else { return false }
                let isOnlyOne = Int(before) != nil
                let core = fl_own_core()
                let code = fl_leave_core(core)
                return (isOnlyOne ? code < 0 : code == 0) && allowedCores() == before
            })
        #expect(thread.join() == true)
    }

    @Test(arguments: [Int32(-1), 16384, .max]) func noSuchCore(core: Int32) {
        #expect(fl_leave_core(core) == -EINVAL)
    }

    @Test func theSamplerStaysOnItsCoreWithoutPreemption() throws {
        let thread = try #require(
            JobThread { () -> [Int32] in
                pushNobodyOff()
                return [
                    sched_getscheduler(0),
                    getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0),
                ]
            })
        let nice = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
        // SCHED_BATCH, at the same nice value.
        #expect(thread.join() == [3, nice])
    }
}

import CSystem
import Glibc
import Testing

@testable import Launching
@testable import ProcessIO
@testable import Sampler

@Suite struct AttachCheckTests {
    private typealias Rule = SamplerError.PermissionRule

    private static let rules: [(Int64?, UInt32, Int64?, SamplerError.PermissionRule)] = [
        // Another user's process: whatever Yama says.
        (0, 1000, nil, .otherUser(owner: 0)), (1001, 1000, 0, .otherUser(owner: 1001)),
        (1001, 1000, 1, .otherUser(owner: 1001)), (65534, 1000, 3, .otherUser(owner: 65534)),
        // One's own.
        (1000, 1000, nil, .unknown), (1000, 1000, 0, .unknown), (1000, 1000, 1, .yama(scope: 1)),
        (1000, 1000, 2, .yama(scope: 2)), (1000, 1000, 3, .yama(scope: 3)),
        // Root is refused by the strictest scope only, or by something else.
        (0, 0, nil, .capability), (1000, 0, 0, .capability), (1000, 0, 1, .capability),
        (1000, 0, 2, .capability), (1000, 0, 3, .yama(scope: 3)), (0, 0, 3, .yama(scope: 3)),
        // The owner could not be read.
        (nil, 1000, 1, .yama(scope: 1)), (nil, 1000, nil, .unknown), (nil, 0, nil, .capability),
    ]

    @Test(arguments: rules)
    func theFirstRuleThatExplainsARefusal(
        owner: Int64?, user: UInt32, scope: Int64?, rule: SamplerError.PermissionRule
    ) {
        #expect(AttachCheck.rule(owner: owner, user: user, yamaScope: scope) == rule)
    }

    @Test(arguments: [0, -1, Int32.min, Int32.max])
    func noSuchProcess(pid: Int32) {
        #expect(throws: SamplerError.noSuchProcess(pid)) { try AttachCheck.check(pid) }
    }

    @Test func ourselves() {
        #expect(throws: SamplerError.itself(getpid())) { try AttachCheck.check(getpid()) }
    }

    @Test func aZombie() throws {
        let child = try Child(["true"])
        // Waits for the end and leaves the zombie there.
        var information = siginfo_t()
        waitid(P_PID, id_t(child.pid), &information, WEXITED | WNOWAIT)
        #expect(throws: SamplerError.zombie(child.pid)) { try AttachCheck.check(child.pid) }
        // It was there when it was checked.
        let refusal = SystemError("x", code: EPERM)
        #expect(AttachCheck.explain(child.pid, refusal) == .zombie(child.pid))
        #expect(AttachCheck.explain(.max, refusal) == .noSuchProcess(.max))
    }

    @Test func aRunningProcess() throws {
        let input = try Connection(isSocket: false)
        let child = try Child(["cat"], input: input.ends[0])
        #expect(throws: Never.self) { try AttachCheck.check(child.pid) }
    }

    @Test func aTracedProcess() throws {
        let input = try Connection(isSocket: false)
        let child = try Child(["cat"], input: input.ends[0])
        let pid = child.pid
        let thrown = onTracerThread { () -> SamplerError? in
            guard (try? Tracee(tid: pid).seize()) != nil else { return nil }
            do throws(SamplerError) {
                try AttachCheck.check(pid)
                return nil
            } catch {
                return error
            }
        }
        guard case .alreadyTraced(pid, let tracer)?? = thrown else {
            Issue.record("\(String(describing: thrown))")
            return
        }
        #expect(tracer > 0)
        // The tracer has gone, and with it the tracing, as soon as the kernel is through with it.
        for _ in 1...10_000 where (try? AttachCheck.check(pid)) == nil { usleep(1000) }
        #expect(throws: Never.self) { try AttachCheck.check(pid) }
    }

    @Test func aThreadIsNoProcess() throws {
        let other = try #require(
            ProcessFiles(pid: getpid()).threadIDs().first { $0 != getpid() })
        #expect(throws: SamplerError.noSuchProcess(other)) { try AttachCheck.check(other) }
    }

    @Test func refusalsAreExplained() {
        #expect(AttachCheck.explain(1, SystemError("x", code: ESRCH)) == .noSuchProcess(1))
        let other = SystemError("x", code: EIO)
        #expect(AttachCheck.explain(1, other) == .systemCall(other))
        for code in [EPERM, EACCES] {
            guard case .notPermitted(1, _) = AttachCheck.explain(1, SystemError("x", code: code))
            else {
                Issue.record("\(code) is no refusal")
                return
            }
        }
    }
}

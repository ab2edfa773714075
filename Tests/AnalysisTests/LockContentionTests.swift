import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

/// Threads that wait for one lock.
@Suite struct LockContentionTests {
    /// - Parameters:
    ///   - lengths: how long each of as many threads waits, in milliseconds, from 150 on.
    ///   - locks: what each waits for.
    private func findings(
        _ lengths: [Int64], locks: [String]? = nil, isAttached: Bool = false
    ) -> [Finding] {
        var launch = FindingLaunch()
        launch.builder.recording.header.isAttached = isAttached
        for (index, length) in lengths.enumerated() {
            let worker = launch.worker(tid: Int32(20 + index))
            launch.wait(
                WaitReason(.lock, detail: locks?[index] ?? "mutex table"), by: worker, from: 150,
                to: 150 + length)
        }
        return launch.findings.filter { $0.kind == .contendedLock }
    }

    @Test func severalThreadsAndOneLock() throws {
        let finding = try #require(findings([600, 700]).first)
        guard case .contendedLock(let evidence) = finding.subject else { return }
        #expect(evidence.threads == 2 && evidence.count == 2 && evidence.lock == "mutex table")
        #expect(evidence.waited == .milliseconds(1300))
        #expect(finding.saving == .milliseconds(700))
    }

    @Test func littleOrElsewhereIsNone() {
        #expect(findings([600]).isEmpty)
        #expect(findings([300, 400]).isEmpty)
        #expect(findings([300, 400], isAttached: true).count == 1)
        #expect(findings([600, 700], locks: ["a", "b"]).isEmpty)
    }
}

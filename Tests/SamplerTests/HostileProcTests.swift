import ProfileModel
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

/// Every parser, fed every kind of nonsense: an answer or none, never a trap.
@Suite struct HostileProcTests {
    private static func parseAll(_ bytes: [UInt8]) {
        let reader = ProcText(bytes)
        _ = SchedulerCounters(reader)
        _ = ThreadActivity(reader)
        _ = ProcessStat(reader)
        _ = ProcFormats.field("read_bytes:", reader)
        _ = ProcFormats.mask("SigIgn:", reader)
        for line in ProcFormats.maps(reader) { #expect(line.end > line.start) }
    }

    @Test(arguments: ProcSamples.all)
    func everyPrefix(sample: String) {
        let bytes = Array(sample.utf8)
        for length in 0...bytes.count { Self.parseAll(Array(bytes.prefix(length))) }
    }

    @Test(arguments: ProcSamples.all)
    func everySuffix(sample: String) {
        let bytes = Array(sample.utf8)
        for start in 0...bytes.count { Self.parseAll(Array(bytes.dropFirst(start))) }
    }

    @Test(arguments: Array(0..<UInt64(ProcSamples.all.count)))
    func mutations(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let bytes = Array(ProcSamples.all[Int(seed)].utf8)
        for _ in 0..<300 { Self.parseAll(random.mutated(bytes)) }
    }

    @Test func noise() {
        var random = SeededNumbers(seed: 99)
        for _ in 0..<300 {
            let length = Int.random(in: 0...300, using: &random)
            Self.parseAll((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
        }
    }
}

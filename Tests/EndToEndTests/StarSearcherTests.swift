import TestSupport
import Testing

extension EndToEnd {
    /// The demonstration: its three flaws, by name, place and amount.
    @Suite struct StarSearcher {
        private static let logger = "SuperfastLogger::warmUp"
        private static let wait = "Semaphore::wait"
        private static let prewarming = "FrameBuilder::prewarmDetailViews"

        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record(_ variant: String) throws -> Recorded {
            let recorded = try Firstlight.record(
                [try Setup.star(variant)], in: scratch,
                adding: ["STARSEARCHER_TRUTH": scratch("truth")])
            #expect(recorded.finished.output.hasPrefix("first frame: 20 stars, checksum "))
            return recorded
        }

        @Test(.alone) func theSinsHaveTheirTrueCost() throws {
            try Misses.afterAttempts {
                let recorded = try record("starsearcher")
                try expectNames(in: recorded)
                let report = try recorded.json()
                let truth = try scratch.truth()
                let waits = try recorded.folded("--weight", "wall", "--phase", "Main")
                let initialisers = try recorded.folded("--phase", "Static initialisers")
                var misses = Misses()
                misses.check(
                    "logger", initialisers.nanoseconds(through: Self.logger),
                    truth: truth["logger_initialiser_cpu"], floor: 0)
                misses.check(
                    "wait", waits.nanoseconds(through: "StarCatalogue::loadStars", Self.wait),
                    truth: truth["worker_wait_wall"], floor: 0)
                misses.check(
                    "pre-warming", report.totalCPU(of: Self.prewarming),
                    truth: truth["prewarm_cpu"], floor: 0)
                return misses
            }
        }

        /// The summary alone must show them. A narrow summary shortens the arguments, but keeps the
        /// function's name.
        private func expectNames(in recorded: Recorded) throws {
            let text = try recorded.text("report")
            let lines = [
                #/SuperfastLogger::warmUp\S* +libsuperlog\.so +logger\.cpp:\d+/#,
                #/StarCatalogue::loadStars.* +starsearcher +catalogue\.cpp:\d+/#,
                #/Semaphore::wait\S* +starsearcher +semaphore\.cpp:\d+/#,
                #/FrameBuilder::prewarmDetailViews.* +starsearcher +frame\.cpp:\d+/#,
            ]
            let found = lines.map { text.contains($0) }
            #expect(found == [true, true, true, true], "\(text)")
            // Names are shortened only if there is no room.
            let wide = try recorded.text("report", columns: 200)
            #expect(wide.contains(Self.logger))
            #expect(wide.contains("StarCatalogue::loadStars(unsigned long)"))
            #expect(wide.contains(Self.prewarming))
        }

        @Test func theMendedVariantHasNoneOfThem() throws {
            let recorded = try record("starsearcher-mended")
            let text = try recorded.text("report", columns: 200)
            for sin in [Self.logger, Self.wait, Self.prewarming] { #expect(!text.contains(sin)) }
            let report = try recorded.json()
            #expect(report.totalCPU(of: Self.logger) == 0)
            #expect(report.totalCPU(of: Self.prewarming) < 10_000_000)
            #expect(report.mainThread.map { $0.blockedNs < $0.wallNs / 2 } == true)
        }
    }
}

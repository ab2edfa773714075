import EndToEndSupport
import TestSupport
import Testing

extension Measured {
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
            return recorded
        }

        @Test func theSinsHaveTheirTrueCost() throws {
            try Truth.of("star searcher") { figures in
                let recorded = try record("starsearcher")
                let report = try recorded.json()
                let truth = try scratch.truth()
                let waits = try recorded.folded("--weight", "wall", "--phase", "Main")
                let initialisers = try recorded.folded("--phase", "Static initialisers")
                figures.check(
                    "logger", initialisers.nanoseconds(through: Self.logger),
                    truth: truth["logger_initialiser_cpu"], floor: 0)
                figures.check(
                    "wait", waits.nanoseconds(through: "StarCatalogue::loadStars", Self.wait),
                    truth: truth["worker_wait_wall"], floor: 0)
                figures.check(
                    "pre-warming", report.totalCPU(of: Self.prewarming),
                    truth: truth["prewarm_cpu"], floor: 0)
                let text = try recorded.text("report", ["--full"], columns: 200)
                figures.check(
                    "the summary names all three",
                    isSo: [Self.logger, Self.wait, Self.prewarming].allSatisfy { text.contains($0) }
                )
            }
        }

        @Test func theMendedVariantHasNoneOfThem() throws {
            try Truth.of("star searcher, mended") { figures in
                let recorded = try record("starsearcher-mended")
                let report = try recorded.json()
                let text = try recorded.text("report", ["--full"], columns: 200)
                figures.check(
                    "pre-warming", report.totalCPU(of: Self.prewarming), isIn: 0...10_000_000)
                let thread = try #require(report.mainThread)
                figures.check("blocked", thread.blockedNs, isIn: 0...thread.wallNs / 2)
                figures.check(
                    "the summary names none",
                    isSo: [Self.wait, Self.prewarming].allSatisfy { !text.contains($0) })
            }
        }
    }
}

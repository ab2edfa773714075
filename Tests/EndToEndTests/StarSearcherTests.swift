import EndToEndSupport
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

        @Test func theSinsAreNamed() throws {
            let recorded = try record("starsearcher")
            try expectNames(in: recorded)
            let report = try recorded.json()
            let waits = try recorded.folded("--weight", "wall", "--phase", "Main")
            let initialisers = try recorded.folded("--phase", "Static initialisers")
            #expect(initialisers.nanoseconds(through: Self.logger) > 0)
            #expect(waits.nanoseconds(through: "StarCatalogue::loadStars", Self.wait) > 0)
            #expect(report.totalCPU(of: Self.prewarming) > 0)
        }

        /// The whole report must show the wait, the trees the work; on a quiet machine the summary has all three (`make
        /// truth`). A narrow
        /// summary shortens the arguments, but keeps the function's name.
        private func expectNames(in recorded: Recorded) throws {
            let text = try recorded.text("report", ["--full"])
            let lines = [
                #/StarCatalogue::loadStars.* +starsearcher +catalogue\.cpp:\d+/#,
                #/Semaphore::wait\S* +starsearcher +semaphore\.cpp:\d+/#,
            ]
            let found = lines.map { text.contains($0) }
            #expect(found == [true, true], "\(text)")
            // Names are shortened only if there is no room.
            let wide = try recorded.text("report", ["--full"], columns: 200)
            #expect(wide.contains("StarCatalogue::loadStars(unsigned long)"))
            // Where others leave the background thread no core, the summary is about that wait alone. By CPU time
            // the two others are there whatever others do.
            for (phase, place) in [
                (
                    "Static initialisers",
                    #/SuperfastLogger::warmUp.* +libsuperlog\.so +logger\.cpp:\d+/#
                ),
                ("Main", #/FrameBuilder::prewarmDetailViews.* +starsearcher +frame\.cpp:\d+/#),
            ] {
                let tree = try recorded.text(
                    "report", ["--view", "tree", "--phase", phase], columns: 200)
                #expect(tree.contains(place), "\(tree)")
            }
        }

        @Test func theMendedVariantHasNoLogger() throws {
            let recorded = try record("starsearcher-mended")
            #expect(try !recorded.text("report", ["--full"], columns: 200).contains(Self.logger))
            #expect(try recorded.json().totalCPU(of: Self.logger) == 0)
        }
    }
}

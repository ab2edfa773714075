import Analysis
import ProfileModel
import Testing

@testable import Report

/// The notes at the top of the page, and those behind them.
@Suite struct PageNotesTests {
    private func recording() -> Recording {
        var recording = StarSearcher.recording()
        recording.header.heldByProfiler = .milliseconds(1)
        recording.header.outcome = .exited(0)
        return recording
    }

    private func notes(_ recording: Recording) -> (first: [String], all: [String]) {
        let head = HeaderSection(profile: Profile(recording), options: TextOptions())
        return (head.essentials, head.notes)
    }

    @Test func nothingNeedsToBeKnownOfAGoodRecording() {
        let notes = notes(recording())
        #expect(notes.first.isEmpty)
        #expect(notes.all.contains { $0.hasPrefix("the profiler stopped threads") })
    }

    @Test func notesThatReduceTrust() {
        var recording = recording()
        (recording.header.samples, recording.header.missedSamples) = (290, 710)
        recording.header.outcome = .unknown
        recording.notes.append(RecorderNote(.busyElsewhere, 600))
        let first = notes(recording).first
        #expect(first.count == 3)
        #expect(first.first?.hasPrefix("recording cut short") == true)
        #expect(
            first[1] == "71.0 % of the samples were missed: stacks are coarser; "
                + "the times of phases and threads are exact")
        #expect(first[2].hasPrefix("the machine was busy"))
        // Not so where the scheduler's account has gaps.
        for kind in [RecorderNote.Kind.lostSwitches, .unseenCPU] {
            var other = recording
            other.notes.append(RecorderNote(kind, 7))
            #expect(!notes(other).all.joined().contains("exact"))
        }
        // A fifth is where it begins.
        (recording.header.samples, recording.header.missedSamples) = (810, 190)
        #expect(notes(recording).first.count == 2)
    }

    /// Functions that called what computes are not taken for it.
    @Test func whereManyStacksLackFunctions() throws {
        var recording = recording()
        let slices = Int64(Profile(recording).launch.slices)
        recording.notes += [
            RecorderNote(.unreadFrames, slices / 5),
            RecorderNote(.partlyReadFrames, slices / 5 + 1),
        ]
        let first = notes(recording).first
        #expect(first.count == 1 && first[0].contains("lack Python's newest functions"))
        recording.notes = [RecorderNote(.partlyReadFrames, slices / 5 - 1)]
        #expect(notes(recording).first.isEmpty)
    }

    /// For a launch without a stack, there is no note about stacks.
    @Test func aLaunchWithoutStacks() {
        var recording = recording()
        recording.slices = []
        #expect(Profile(recording).launch.slices == 0)
        #expect(!notes(recording).all.joined().contains("of the stacks"))
    }

    /// The text report has them in one list, the most important ones first.
    @Test func importantNotesComeFirst() {
        var recording = recording()
        (recording.header.samples, recording.header.missedSamples) = (290, 710)
        recording.header.heldByProfiler = .milliseconds(500)
        recording.notes.append(RecorderNote(.spared, 3))
        let (first, all) = notes(recording)
        #expect(all.starts(with: first) && all.count > first.count)
        #expect(Set(all).count == all.count)
        // Each note occurs once, with its explanation.
        #expect(all.filter { $0.contains("stopped threads") }.count == 1)
    }

    @Test func thePageSaysNothingTwice() throws {
        var recording = recording()
        recording.header.outcome = .unknown
        let page = String(
            decoding: PageData(Profile(recording), SourceLines()).render(), as: UTF8.self)
        let words = "recording cut short"
        #expect(page.components(of: words) == 1)
        let essentials = try #require(page.firstRange(of: "\"essentials\":["))
        let place = try #require(page.firstRange(of: words))
        let others = try #require(page.firstRange(of: "\"notes\":["))
        #expect(essentials.upperBound < place.lowerBound && place.upperBound < others.lowerBound)
    }
}

extension String {
    /// How often a text occurs.
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}

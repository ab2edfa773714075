import Analysis
import MadeRecordings
import ProfileModel
import Testing

@Suite struct SelectionTests {
    private let profile: Profile = {
        var builder = RecordingBuilder(images: [
            ("/bin/sh", 1), ("/bin/sh", 2), ("/home/dev/app", 3),
        ])
        builder.border(.spawned, 0)
        for time in 1...3 as ClosedRange<Int64> { builder.border(.firstInstruction, time) }
        builder.border(.relocated, 4)
        builder.border(.main, 5)
        builder.border(.ended, 10)
        let main = builder.thread("app", tid: 100, to: 10, isMain: true)
        let first = builder.thread("worker", tid: 101, from: 5, to: 10)
        _ = builder.thread("Worker", tid: 102, from: 5, to: 10)
        _ = builder.thread("worker", tid: 103, from: 5, to: 10)
        builder.slice(main, at: 3, running: 7, builder.stack("main"))
        builder.slice(first, at: 5, running: 5, builder.stack("work"))
        return Profile(builder.recording)
    }()

    @Test func phasesByNameOrItsBeginning() throws {
        #expect(try profile.selection(phase: "main").phases == [5])
        #expect(try profile.selection(phase: "STATIC").phases == [4])
        #expect(try profile.selection(phase: "Wrapper: sh").phases == [1, 2])
        #expect(try profile.selection(phase: "wrap").phases == [1, 2])
        #expect(try profile.selection() == .all)
    }

    @Test func unknownPhaseSaysWhatThereIs() {
        let known = [
            "Process creation", "Wrapper: sh", "Dynamic linking", "Static initialisers", "Main",
        ]
        #expect(throws: SelectionError.unknownPhase("Extended", known: known)) {
            try profile.selection(phase: "Extended")
        }
        #expect(throws: SelectionError.unknownPhase("", known: known)) {
            try profile.selection(phase: "")
        }
        let text = SelectionError.unknownPhase("x", known: ["Main", "Attached"]).description
        #expect(text == "no phase 'x' in this recording; it has: Main, Attached")
    }

    @Test func threadsByIdOrName() throws {
        #expect(try profile.selection(thread: "102").threads == [2])
        #expect(try profile.selection(thread: "worker").threads == [1, 3])
        #expect(try profile.selection(thread: "WORKER").threads == [1, 2, 3])
        #expect(throws: SelectionError.self) { try profile.selection(thread: "999") }
    }

    @Test func treesKeepToTheSelection() throws {
        let selection = try profile.selection(phase: "Main", thread: "101")
        let tree = profile.topDown(selection, weight: .cpu)
        #expect(tree.nodes.map { tree.function(of: $0).name } == ["work"])
        #expect(profile.times(in: selection).running == .milliseconds(5))
        #expect(profile.topDown(Selection(phases: []), weight: .cpu).nodes.isEmpty)
    }
}

import Analysis
import Exports
import MadeRecordings
import ProfileModel
import Report
import Testing

@Suite struct FoldedTests {
    private func lines(
        _ recording: Recording, _ change: (inout FoldedStacks.Options) -> Void = { _ in }
    ) -> [String] {
        var options = FoldedStacks.Options()
        change(&options)
        let text = FoldedStacks.render(Profile(recording), options: options)
        #expect(text.isEmpty || text.hasSuffix("\n"))
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .map(String.init)
    }

    /// nil for a line that is not `STACK COUNT`.
    private func count(_ line: String) -> Int64? {
        guard let space = line.lastIndex(of: " "), space > line.startIndex else { return nil }
        return Int64(line[line.index(after: space)...])
    }

    @Test(arguments: 40...52 as ClosedRange<UInt64>, Weight.allCases)
    func countsAddUpToTheWeight(seed: UInt64, weight: Weight) throws {
        let recording = RecordingBuilder.random(seed: seed)
        let expected = weight.of(Profile(recording).times(in: .all)).nanoseconds
        for (phase, thread) in [(true, true), (false, true), (true, false), (false, false)] {
            let lines = lines(recording) {
                $0.weight = weight
                $0.showsPhase = phase
                $0.showsThread = thread
            }
            let sum = try lines.reduce(0) { try $0 + #require(count($1)) }
            #expect(sum == (expected + 500) / 1000)
            #expect(lines == lines.sorted())
            #expect(Set(lines).count == lines.count)
            #expect(lines.allSatisfy { count($0) ?? 0 > 0 })
        }
    }

    @Test func smallTimesAreNotRoundedAwayOneByOne() {
        var builder = RecordingBuilder(attached: true)
        builder.border(.attached, 0)
        builder.border(.ended, 1)
        let main = builder.thread("app", tid: 1, to: 1, isMain: true)
        for index in 0..<1000 as Range<Int64> {
            let name = "f\(index)"
            builder.recording.slices.append(
                Slice(
                    thread: main,
                    start: RecordingBuilder.at(0) + TimeSpan(nanoseconds: index * 400),
                    times: StateTimes(running: TimeSpan(nanoseconds: 400)),
                    stack: builder.stack(name)))
        }
        #expect(lines(builder.recording).compactMap(count).reduce(0, +) == 400)
    }

    @Test func selectsPhaseAndThread() throws {
        let recording = StarSearcher.recording()
        let selection = try Profile(recording).selection(phase: "main", thread: "star loader")
        let lines = lines(recording) {
            $0.selection = selection
            $0.showsPhase = false
            $0.showsThread = false
            $0.weight = .blocked
        }
        #expect(lines == ["__clone3;start_thread;pthread_cond_wait;[futex] 1342000"])
    }

    @Test func namesKeepTheFormat() {
        var builder = RecordingBuilder(attached: true)
        builder.border(.attached, 0)
        builder.border(.ended, 10)
        let main = builder.thread("a;b\n", tid: 7, to: 10, isMain: true)
        let inlined = [SourceFrame(function: "in\tner", file: nil, line: nil, isInlined: true)]
        let stack = builder.stack([
            .init("operator;()"), .init("\u{1b}[1m"), .init("  \u{a0}"),
            .init("\r\n\u{2028}x", inlined: inlined),
        ])
        builder.slice(main, at: 0, running: 10, stack)
        #expect(
            lines(builder.recording) == [
                "Attached;a:b /7;operator:();\\u{1b}[1m;[unknown];   x;in ner_[i] 10000"
            ])
    }

    @Test func theKernelsFunctionsAreMarked() {
        var builder = RecordingBuilder(attached: true)
        builder.border(.attached, 0)
        builder.border(.ended, 10)
        let main = builder.thread("app", tid: 7, to: 10, isMain: true)
        let stack = builder.stack([
            .init("read", "/lib/libc.so"), .init("vfs_read", "[kernel]"),
            .init("loop_read", "[kernel:loop]"), .init("[futex]", "[kernel]"),
        ])
        builder.slice(main, at: 0, running: 10, stack)
        // A frame for a wait is no function.
        #expect(
            lines(builder.recording) == [
                "Attached;app/7;read;vfs_read_[k];loop_read_[k];[futex] 10000"
            ])
    }

    @Test func oneNameInTwoModulesIsOneLine() {
        var builder = RecordingBuilder(attached: true)
        builder.border(.attached, 0)
        builder.border(.ended, 10)
        let main = builder.thread("app", tid: 7, to: 10, isMain: true)
        builder.slice(main, at: 0, running: 4, builder.stack([.init("init", "/lib/a.so")]))
        builder.slice(main, at: 4, running: 6, builder.stack([.init("init", "/lib/b.so")]))
        #expect(lines(builder.recording) == ["Attached;app/7;init 10000"])
    }
}

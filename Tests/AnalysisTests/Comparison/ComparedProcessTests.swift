import Analysis
import MadeRecordings
import ProfileModel
import Testing

/// Processes that launches of both sides started, by name.
@Suite struct ComparedProcessTests {
    /// A launch of 1,000 ms; each process from and to a moment, nil: beyond the launch's end.
    private static func launch(_ processes: [(String, Int64, Int64?)]) -> Profile {
        var builder = RecordingBuilder(images: [("/bin/sh", 0)])
        builder.border(.spawned, 0)
        builder.border(.main, 1)
        builder.border(.ended, 1000)
        let main = builder.thread("sh", tid: 100, to: 1000, isMain: true)
        builder.slice(main, at: 0, running: 1000, builder.stack("main"))
        for (index, (name, start, end)) in processes.enumerated() {
            builder.recording.children.append(
                ChildProcess(
                    pid: Int32(101 + index), parent: 100, name: name,
                    start: RecordingBuilder.at(start), end: end.map(RecordingBuilder.at),
                    cpu: .milliseconds(7), outcome: .exited(0)))
        }
        return Profile(builder.recording)
    }

    private static func compared(
        _ before: [[(String, Int64, Int64?)]], _ after: [[(String, Int64, Int64?)]]
    ) -> [ComparedProcess] {
        let launches = Compared(before: before.map(launch), after: after.map(launch))
        return ProfileComparison(
            first: launches.map { $0[0] },
            others: launches.map { Array($0.dropFirst()) }
        ).processes
    }

    @Test func byName() throws {
        let found = Self.compared(
            [[("sed", 0, 10), ("cc", 10, 110), ("sed", 20, 30)]],
            [[("cc", 0, 300), ("sed", 300, 310), ("ld", 500, nil)]])
        // Of another number first; of them the largest change.
        #expect(found.map(\.name) == ["ld", "sed", "cc"])
        #expect(found.map(\.isOfOtherCount) == [true, true, false])
        #expect(found.map(\.counts.before) == [0, 2, 1] && found.map(\.counts.after) == [1, 1, 1])
        #expect(found.map(\.wall.before) == [0, 20, 100].map { .milliseconds($0) })
        #expect(found.map(\.wall.after) == [500, 10, 300].map { .milliseconds($0) })
        #expect(found.map(\.cpu.before) == [0, 14, 7].map { .milliseconds($0) })
    }

    /// Two launches and four of the same are no change; their means are compared.
    @Test func ofSeveralLaunches() throws {
        let one: [(String, Int64, Int64?)] = [("cc", 0, 100), ("cc", 100, 200)]
        let found = Self.compared([one, one], [one, one, one, [("cc", 0, 100), ("cc", 0, 300)]])
        let process = try #require(found.first)
        #expect(found.count == 1 && !process.isOfOtherCount)
        #expect(process.counts == Compared(before: 4, after: 8))
        #expect(process.wall == Compared(before: .milliseconds(200), after: .milliseconds(250)))
        #expect(!Self.compared([one], [one + one]).contains { !$0.isOfOtherCount })
    }

    @Test func ofLaunchesWithoutProcesses() {
        #expect(Self.compared([[]], [[]]).isEmpty)
    }
}

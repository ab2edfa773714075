import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

@Suite struct StartedProcessesTests {
    private func launch(_ processes: [MeasuredProcesses]?) -> MeasuredLaunch {
        var builder = MeasurementBuilder()
        builder.launch(100) { $0.processes = processes }
        return builder.measurement.launches[0]
    }

    private func process(
        _ name: String, _ count: Int, _ wall: Double, cpu: Double? = nil
    ) -> MeasuredProcesses {
        MeasuredProcesses(name: name, count: count, wall: span(wall), cpu: cpu.map { span($0) })
    }

    /// A launch that started none has 0 of them; one that does not know takes no part.
    @Test func launchesWithAndWithout() throws {
        let found = StartedProcesses.all(of: [
            launch([process("git", 1, 4, cpu: 3), process("sh", 2, 50)]),
            launch([process("git", 3, 8, cpu: 5)]), launch([]), launch(nil),
        ])
        #expect(found.map(\.name) == ["sh", "git"])
        let git = try #require(found.last)
        #expect(git.count.count == 3 && git.count.median == 1 && git.count.maximum == 3)
        #expect(git.wall.median == 4e6 && git.wall.minimum == 0)
        #expect(git.cpu?.median == 3e6)
        // Of the launches that know it: those that had none used none.
        #expect(found.first?.cpu?.count == 2 && found.first?.cpu?.maximum == 0)
    }

    @Test func unknown() {
        #expect(StartedProcesses.all(of: []).isEmpty)
        #expect(StartedProcesses.all(of: [launch(nil)]).isEmpty)
        #expect(StartedProcesses.all(of: [launch([])]).isEmpty)
    }

    /// Of measurements that were not taken in turns.
    @Test func compared() throws {
        func measurement(_ git: Double) -> Measurement {
            MeasurementBuilder((0..<20).map { 100 + Double($0 % 3) }) {
                $0.processes = [self.process("git", 1, git), self.process("sh", 1, 5)]
            }.measurement
        }
        let found = try MeasurementComparison(
            before: measurement(4), after: measurement(9), anyway: true)
        #expect(found.processes.map(\.name) == ["git", "sh"])
        #expect(found.processes.first?.difference.difference.value == 5e6)
        var unknown = measurement(4)
        for index in unknown.launches.indices { unknown.launches[index].processes = nil }
        #expect(
            try MeasurementComparison(before: unknown, after: measurement(9), anyway: true)
                .processes.isEmpty)
    }
}

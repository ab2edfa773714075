import ProfileModel
import Recording
import TestSupport
import Testing

/// Files of measurements that were changed after writing, or are none: as in ``DamageTests`` for
/// recordings.
@Suite struct MeasurementDamageTests {
    /// Two arms; the first launch has all values that may be unknown, and two phases.
    private func sample(_ scratch: Scratch, seed: UInt64 = 4) throws -> String {
        var random = RandomMeasurement(seed: seed)
        var measurement = random.make()
        measurement.arms = ["new", "old"].map {
            MeasuredArm(command: [$0, "--flag"], path: "/usr/bin/\($0)")
        }
        var launch = MeasuredLaunch(
            arm: 1, start: .zero, wall: .milliseconds(3), outcome: .exited(0))
        launch.phases = [
            MeasuredPhase(name: "Dynamic linking", wall: .milliseconds(1), cpu: .milliseconds(1)),
            MeasuredPhase(name: "Main", wall: .milliseconds(2), cpu: .milliseconds(1)),
        ]
        launch.processes = [
            MeasuredProcesses(name: "git", count: 1, wall: .milliseconds(2), cpu: .milliseconds(1)),
            MeasuredProcesses(name: "bash", count: 3, wall: .milliseconds(2)),
        ]
        measurement.launches.insert(launch, at: 0)
        launch.processes = []
        measurement.launches.insert(launch, at: 1)
        try save(measurement, to: scratch.path("good"))
        return scratch.path("good")
    }

    @Test func truncatedAnywhere() throws {
        let scratch = try Scratch()
        let bytes = readBytes(try sample(scratch))
        let path = scratch.path("cut")
        for size in stride(from: 0, to: bytes.count, by: 512) {
            writeBytes(Array(bytes[..<size]), to: path)
            switch measurementError(path) {
            case .empty: #expect(size == 0)
            case .notARecording: #expect(size < 100)
            case .damaged(path, _): break
            case let other: Issue.record("\(size): \(String(describing: other))")
            }
        }
    }

    @Test(arguments: 0..<300) func mutated(seed: UInt64) throws {
        let scratch = try Scratch()
        var bytes = readBytes(try sample(scratch, seed: seed % 5))
        var generator = SeededNumbers(seed: seed)
        for _ in 0..<Int.random(in: 1...40, using: &generator) {
            let place = Int.random(in: bytes.indices, using: &generator)
            bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
        }
        let path = scratch.path("bad")
        writeBytes(bytes, to: path)
        guard let measurement = try? MeasurementReader.load(path: path) else {
            let text = measurementError(path)?.description ?? ""
            #expect(text.hasPrefix(path) && !text.contains("\n"))
            return
        }
        // A loaded measurement has the properties that statistics rely on.
        for launch in measurement.launches {
            #expect(measurement.arms.indices.contains(launch.arm))
            #expect(launch.wall >= .zero && launch.wall.nanoseconds <= 1 << 60)
            let sum = launch.phases.reduce(TimeSpan.zero) { $0 + $1.wall }
            #expect(launch.phases.isEmpty || sum == launch.wall)
        }
    }

    @Test(arguments: [
        ("DELETE FROM measurement", "measurement, row 0: is missing"),
        ("DELETE FROM machine", "machine, row 0: is missing"),
        ("DELETE FROM conditions", "conditions, row 0: is missing"),
        ("INSERT INTO conditions VALUES (1, 'warm', NULL, NULL)", "row 1: more than one row"),
        ("UPDATE measurement SET requested = 0", "requested is out of range"),
        ("UPDATE measurement SET requested = 100001", "requested is out of range"),
        ("UPDATE measurement SET ending = 'gossip'", "ending is not valid"),
        ("UPDATE measurement SET date_ns = -1", "date_ns is out of range"),
        ("UPDATE measurement SET recorder_version = x'FF'", "recorder_version is not valid"),
        ("UPDATE conditions SET cache = 'tepid'", "cache is not valid"),
        ("UPDATE conditions SET disk_rate = 0", "disk_rate is out of range"),
        ("UPDATE conditions SET disk_rate = 1.5", "disk_rate is not valid"),
        ("REPLACE INTO until VALUES (99, 'x')", "its id is out of order"),
        ("UPDATE machine SET cores = 0", "cores is out of range"),
        ("UPDATE machine SET cores = 9999999999", "cores is out of range"),
        ("UPDATE machine SET memory = -1", "memory is out of range"),
        ("UPDATE machine SET host = CAST(x'FF80' AS TEXT)", "host is not valid"),
        ("DELETE FROM arms", "arm is not valid"),
        ("DELETE FROM arms; DELETE FROM arguments", "there must be one or two"),
        ("INSERT INTO arms VALUES (2, 'x')", "there must be one or two"),
        ("DELETE FROM arguments", "arms, row 0: has no command"),
        ("UPDATE arguments SET arm = -1 WHERE id = 0", "arm is not valid"),
        ("UPDATE launches SET arm = 2 WHERE id = 0", "launches, row 0: no such arm"),
        ("UPDATE launches SET arm = -1 WHERE id = 3", "launches, row 3: no such arm"),
        ("UPDATE launches SET start_ns = -1 WHERE id = 0", "row 0: a time out of range"),
        ("UPDATE launches SET discarded = 'dull' WHERE id = 0", "discarded is not valid"),
        ("UPDATE launches SET wall_ns = 2999999 WHERE id = 0", "phases, row 1: is more than its"),
        ("UPDATE launches SET wall_ns = 3000001 WHERE id = 0", "row 0: its phases do not add up"),
        ("UPDATE launches SET wall_ns = -1 WHERE id = 0", "row 0: a time out of range"),
        ("UPDATE launches SET held_ns = -1 WHERE id = 0", "row 0: a time out of range"),
        ("UPDATE launches SET cpu_ns = 9223372036854775807 WHERE id = 0", "a time out of range"),
        ("UPDATE launches SET main_blocked_ns = -1 WHERE id = 0", "a time out of range"),
        ("UPDATE launches SET other_work_ns = -1 WHERE id = 0", "a time out of range"),
        ("UPDATE launches SET stolen_ns = 'x' WHERE id = 0", "stolen_ns is not valid"),
        ("UPDATE launches SET minor_faults = -1 WHERE id = 0", "a count out of range"),
        ("UPDATE launches SET major_faults = -1 WHERE id = 0", "a count out of range"),
        ("UPDATE launches SET read_bytes = -1 WHERE id = 0", "a count out of range"),
        ("UPDATE launches SET cached_bytes = -1 WHERE id = 0", "a count out of range"),
        ("UPDATE launches SET file_bytes = -1 WHERE id = 0", "a count out of range"),
        ("UPDATE launches SET frequency_khz = 0 WHERE id = 0", "frequency_khz is out of range"),
        ("UPDATE launches SET outcome = 'exited', outcome_value = NULL", "outcome is not valid"),
        ("UPDATE launches SET output = hex(zeroblob(9000)) WHERE id = 0", "a text is too long"),
        ("UPDATE launches SET ready_by = hex(zeroblob(9000)) WHERE id = 0", "a text is too long"),
        ("DELETE FROM launches WHERE id = 3", "row 3: its id is out of order"),
        ("UPDATE phases SET launch = 999 WHERE id = 0", "launch is not valid"),
        ("UPDATE phases SET launch = -1 WHERE id = 0", "launch is not valid"),
        ("UPDATE phases SET launch = 5 WHERE id = 0", "launch is not valid"),
        ("UPDATE phases SET wall_ns = -1 WHERE id = 0", "phases, row 0: a time out of range"),
        (
            "UPDATE phases SET wall_ns = 9223372036854775807 WHERE id = 1",
            "phases, row 1: a time out of range"
        ),
        ("UPDATE phases SET cpu_ns = -1 WHERE id = 0", "phases, row 0: a time out of range"),
        ("UPDATE phases SET name = hex(zeroblob(9000)) WHERE id = 0", "its name is too long"),
        ("DELETE FROM phases WHERE id = 0", "phases, row 0: its id is out of order"),
        ("UPDATE processes SET launch = 999 WHERE id = 0", "launch is not valid"),
        ("UPDATE processes SET launch = 5 WHERE id = 0", "launch is not valid"),
        ("UPDATE processes SET count = 0 WHERE id = 0", "processes, row 0: a figure out of range"),
        ("UPDATE processes SET running = 2 WHERE id = 0", "processes, row 0: a figure out of"),
        ("UPDATE processes SET running = -1 WHERE id = 0", "processes, row 0: a figure out of"),
        ("UPDATE processes SET wall_ns = -1 WHERE id = 1", "processes, row 1: a figure out of"),
        (
            "UPDATE processes SET cpu_ns = -1 WHERE id = 0",
            "processes, row 0: a figure out of range"
        ),
        ("UPDATE processes SET name = 'git' WHERE id = 1", "row 1: its name is there twice"),
        ("UPDATE processes SET name = NULL WHERE id = 0", "name is not valid"),
        ("UPDATE processes SET name = NULL WHERE id = 1", "name is not valid"),
        ("UPDATE processes SET launch = 0 WHERE id = 2", "name is not valid"),
        ("UPDATE processes SET name = hex(zeroblob(9000)) WHERE id = 0", "its name is too long"),
        ("DROP TABLE processes", "processes: the table is missing or was changed"),
        ("DROP TABLE phases", "phases: the table is missing or was changed"),
        ("ALTER TABLE launches ADD COLUMN more", "launches: the table is missing or was changed"),
        ("DROP TABLE until; CREATE VIEW until AS SELECT 0 AS id, 'x' AS condition", "until: the"),
    ]) func wrongValues(sql: String, expected: String) throws {
        let scratch = try Scratch()
        let path = try sample(scratch)
        execute(sql, on: path)
        expectDamage(measurementError(path), at: path, expected)
    }
}

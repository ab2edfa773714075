import Glibc
import ProfileModel
import Recording
import TestSupport
import Testing

@Suite struct MeasurementFileTests {
    @Test(arguments: 1...20) func everythingComesBack(seed: UInt64) throws {
        let scratch = try Scratch()
        let path = scratch.path("a")
        var random = RandomMeasurement(seed: seed)
        let measurement = random.make()
        try save(measurement, to: path)
        #expect(try MeasurementReader.load(path: path) == measurement)
        #expect(try FileKind(of: path) == .measurement)
        #expect(scratch.names == ["a"])
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o600)
    }

    @Test func sameMeasurementSameBytes() throws {
        let scratch = try Scratch()
        for name in ["a", "b"] {
            var random = RandomMeasurement(seed: 3)
            try save(random.make(), to: scratch.path(name))
        }
        #expect(readBytes(scratch.path("a")) == readBytes(scratch.path("b")))
    }

    /// A killed `measure` leaves its file, and its journal, as they are at that moment.
    @Test func everyLaunchIsKept() throws {
        let scratch = try Scratch()
        var random = RandomMeasurement(seed: 5)
        var measurement = random.make()
        let launches = measurement.launches
        measurement.launches = []
        measurement.header.ending = .complete
        let writer = try MeasurementWriter(creating: scratch.path("a"), measurement)
        // It is not complete until its writer says so.
        measurement.header.ending = .unknown
        for (number, launch) in launches.enumerated() {
            let copy = scratch.path("copy\(number)")
            writeBytes(readBytes(scratch.path("a")), to: copy)
            if scratch.names.contains("a-journal") {
                writeBytes(readBytes(scratch.path("a-journal")), to: copy + "-journal")
            }
            #expect(try MeasurementReader.load(path: copy) == measurement)
            try writer.append(launch)
            measurement.launches.append(launch)
        }
        #expect(measurementError(scratch.path("a")) == .inUse(path: scratch.path("a")))
        try writer.finish(.interrupted)
        measurement.header.ending = .interrupted
        #expect(try MeasurementReader.load(path: scratch.path("a")) == measurement)
        #expect(throws: RecordingError.self) { try writer.append(launches[0]) }
        #expect(throws: RecordingError.self) { try writer.finish(.complete) }
    }

    /// More launches than were requested at first.
    @Test func anExtendedMeasurementIsWhole() throws {
        let scratch = try Scratch()
        var random = RandomMeasurement(seed: 6)
        var measurement = random.make()
        let writer = try MeasurementWriter(creating: scratch.path("a"), measurement)
        writer.extend(to: 4_711)
        try writer.finish(.complete)
        (measurement.header.requested, measurement.header.ending) = (4_711, .complete)
        #expect(try MeasurementReader.load(path: scratch.path("a")) == measurement)
    }

    @Test func kindsAreToldApart() throws {
        let scratch = try Scratch()
        let (measured, recorded) = (scratch.path("measured"), scratch.path("recorded"))
        var launches = RandomMeasurement(seed: 1)
        try save(launches.make(), to: measured)
        var slices = RandomRecording(seed: 1)
        try save(slices.make(), to: recorded)
        #expect(loadError(measured) == .otherKind(path: measured, found: .measurement))
        #expect(measurementError(recorded) == .otherKind(path: recorded, found: .recording))
        #expect(try FileKind(of: recorded) == .recording)
        #expect(
            loadError(measured)?.description
                == "\(measured): is a measurement, not a recording: it has no stacks; "
                + "'firstlight report' shows it")
        #expect(
            measurementError(recorded)?.description
                == "\(recorded): is a recording, not a measurement; 'firstlight report' shows it")
        let text = scratch.path("text")
        writeBytes(Array(repeating: 65, count: 1_000), to: text)
        #expect(
            measurementError(text)?.description == "\(text): not a Firstlight measurement")
        #expect(throws: RecordingError.notARecording(path: text)) { try FileKind(of: text) }
        // Neither takes the other's place.
        for path in [measured, recorded, text] {
            for kind in FileKind.allCases {
                let isOwn =
                    path == measured && kind == .measurement
                    || path == recorded && kind == .recording
                guard !isOwn else { continue }
                let refusal = RecordingError.wouldReplace(path: path, by: kind)
                #expect(throws: refusal) { try RecordingFile.checkWritable(path, for: kind) }
                #expect(throws: refusal) { try RecordingFile.keepOlder(at: path, for: kind) }
            }
        }
        #expect(scratch.names == ["measured", "recorded", "text"])
        try RecordingFile.checkWritable(measured, for: .measurement)
        try RecordingFile.keepOlder(at: measured, for: .measurement)
        #expect(scratch.names == ["measured.old", "recorded", "text"])
    }

    @Test func otherVersions() throws {
        let scratch = try Scratch()
        let path = scratch.path("a")
        var random = RandomMeasurement(seed: 2)
        try save(random.make(), to: path)
        let version = 1 << 16 | 1
        execute("PRAGMA user_version = \(version + 1)", on: path)
        #expect(measurementError(path) == .newerSchema(path: path, found: 2, supported: 1))
        #expect(loadError(path) == .otherKind(path: path, found: .measurement))
        // Another version of either kind is recognised, too.
        for other in [1, 5, 6] {
            execute("PRAGMA user_version = \(other)", on: path)
            #expect(measurementError(path) == .otherKind(path: path, found: .recording))
        }
        execute("PRAGMA user_version = \(1 << 16)", on: path)
        #expect(measurementError(path) == .damaged(path: path, detail: "its header was changed"))
        execute("PRAGMA user_version = \(7 << 16 | 3)", on: path)
        #expect(measurementError(path) == .newerKind(path: path))
        #expect(loadError(path) == .newerKind(path: path))
        #expect(throws: RecordingError.newerKind(path: path)) { try FileKind(of: path) }
        #expect(throws: RecordingError.wouldReplace(path: path, by: .measurement)) {
            try RecordingFile.checkWritable(path, for: .measurement)
        }
        execute("PRAGMA user_version = -1", on: path)
        #expect(measurementError(path) == .damaged(path: path, detail: "its header was changed"))
    }

    @Test func unreadableMeasurementsAreNotWritten() throws {
        let scratch = try Scratch()
        var random = RandomMeasurement(seed: 8)
        var good = random.make(launches: 2)
        good.launches[1].phases = [MeasuredPhase(name: "Main", wall: .milliseconds(3))]
        good.launches[1].wall = .milliseconds(3)
        let changes: [(inout MeasuredLaunch) -> Void] = [
            { $0.arm = 2 }, { $0.arm = -1 }, { $0.wall = .milliseconds(4) },
            { $0.wall = .milliseconds(-1) }, { $0.start = .milliseconds(-1) },
            { $0.cpu = TimeSpan(nanoseconds: -1) }, { $0.stolen = TimeSpan(nanoseconds: .max) },
            { $0.readBytes = -1 }, { $0.frequency = 0 },
            { $0.phases[0].cpu = TimeSpan(nanoseconds: -1) },
            { $0.output = String(repeating: "x", count: 16 << 10 + 1) },
            { $0.phases[0].name = String(repeating: "x", count: 99_999) },
        ]
        for (number, change) in changes.enumerated() {
            let path = scratch.path("\(number)")
            var (begun, bad) = (good, good.launches[1])
            begun.launches.removeLast()
            begun.header.ending = .unknown
            change(&bad)
            let writer = try MeasurementWriter(creating: path, begun)
            let error = try #require(throws: RecordingError.self, "\(number)") {
                try writer.append(bad)
            }
            guard case .refused = error else {
                Issue.record("\(number): \(error)")
                continue
            }
            // The file ends here, and keeps its earlier launches.
            #expect(throws: error) { try writer.append(good.launches[1]) }
            #expect(throws: error) { try writer.finish(.complete) }
            #expect(try MeasurementReader.load(path: path) == begun)
        }
        var none = good
        none.arms = []
        #expect(throws: RecordingError.self) {
            _ = try MeasurementWriter(creating: scratch.path("none"), none)
        }
        #expect(!scratch.names.contains("none"))
    }
}

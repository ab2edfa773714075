import Glibc
import ProfileModel
import Recording
import TestSupport
import Testing

/// On a real full file system, where this process may mount one.
@Suite(.enabled(if: TinyFileSystem.canMount || isContinuousIntegration, "needs the right to mount"))
struct DiskFullTests {
    private let header = Recording.Header(
        pid: 1, isAttached: false, capture: .ptrace, frequency: 1_000)

    @Test func committedDataSurvivesAFullDisk() throws {
        let disk = try #require(TinyFileSystem(kilobytes: 512))
        let path = disk.scratch.path("a")
        let writer = try RecordingWriter(creating: path, header: header)
        try writer.append(
            RecordedThread(tid: 1, name: "a", start: MonotonicTime(nanoseconds: 0), isMain: true))
        var committed = 0
        let error = try #require(throws: RecordingError.self) {
            for number in 1...100_000 {
                let times = StateTimes(running: TimeSpan(nanoseconds: 1))
                let start = MonotonicTime(nanoseconds: Int64(number))
                try writer.append(
                    Slice(thread: ThreadIndex(0), start: start, times: times, stack: nil))
                if number % 1_000 == 0 {
                    try writer.commit()
                    committed = number
                }
            }
        }
        #expect(error == .full(path: path))
        #expect(committed > 0)
        #expect(throws: error) { try writer.finish(header) }
        #expect(try RecordingReader.load(path: path).slices.count == committed)
        #expect(disk.scratch.names == ["a"])
    }

    @Test func launchesSoFarAreKept() throws {
        let disk = try #require(TinyFileSystem(kilobytes: 256))
        let path = disk.scratch.path("a")
        var random = RandomMeasurement(seed: 6)
        var measurement = random.make()
        measurement.header.ending = .unknown
        let launch = try #require(measurement.launches.last)
        let writer = try MeasurementWriter(creating: path, measurement)
        let error = try #require(throws: RecordingError.self) {
            for _ in 1...100_000 {
                try writer.append(launch)
                measurement.launches.append(launch)
            }
        }
        #expect(error == .full(path: path))
        #expect(throws: error) { try writer.finish(.complete) }
        #expect(try MeasurementReader.load(path: path) == measurement)
        #expect(disk.scratch.names == ["a"])
    }

    @Test func nothingIsLeftWhereThereIsNoRoomAtAll() throws {
        let disk = try #require(TinyFileSystem(kilobytes: 4))
        let path = disk.scratch.path("a")
        // Nothing was written that could be kept.
        let error = RecordingError.cannotCreate(path: path, errno: ENOSPC)
        #expect(throws: error) { _ = try RecordingWriter(creating: path, header: header) }
        #expect(throws: error) { try RecordingFile.checkWritable(path) }
        #expect(disk.scratch.names == [])
    }
}

/// A file system in memory, mounted over a folder of its own.
private final class TinyFileSystem {
    let scratch: Scratch

    static var canMount: Bool { TinyFileSystem(kilobytes: 16) != nil }

    init?(kilobytes: Int) {
        guard let scratch = try? Scratch() else { return nil }
        self.scratch = scratch
        let options = "size=\(kilobytes)k"
        let result = options.withCString { mount("tmpfs", scratch.folder, "tmpfs", 0, $0) }
        guard result == 0 else { return nil }
    }

    deinit {
        for name in scratch.names { unlink(scratch.path(name)) }
        umount2(scratch.folder, 2)
    }
}

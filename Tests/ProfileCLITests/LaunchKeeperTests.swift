import Glibc
import ProfileModel
import Recording
import Testing

@testable import Launching
@testable import ProfileCLI
@testable import Sampler

/// Files of launches: when a new one begins, their names, and which ones are removed.
@Suite struct LaunchKeeperTests {
    private static let machine = MeasuredMachine(
        host: "h", kernel: "k", architecture: "x86_64", processor: "p", cores: 2, memory: 1)

    /// So many milliseconds after noon of a day, when the clock of moments was at 1,000 s.
    private static func moment(_ milliseconds: Int64) -> LaunchKeeper.Moment {
        let noon: Int64 = (20_000 * 86_400 + 43_200) * 1_000_000_000
        return LaunchKeeper.Moment(
            time: MonotonicTime(nanoseconds: 1_000_000_000_000) + .milliseconds(milliseconds),
            date: noon + milliseconds * 1_000_000)
    }

    /// A launch that ends at a moment.
    private static func launch(
        _ name: String = "app", version: String? = nil, from begin: Int64, to end: Int64,
        outcome: Recording.Outcome = .exited(0)
    ) throws -> WatchedLaunch {
        let path = "/opt/\(name)"
        let names = ProcessNames(
            command: Array(name.utf8.prefix(15)), executable: Array(path.utf8), arguments: [])
        return WatchedLaunch(
            pid: 5, begun: moment(begin).time, ended: moment(end).time,
            program: try #require(WatchedProgram(names)), version: version,
            images: [Image(path: path, arguments: [], time: moment(begin).time)],
            outcome: outcome, cpu: nil, counters: ProcessCounters(minorFaults: 3))
    }

    private static func withKeeper(
        bytes: Int64 = 1 << 30, launches: Int = 1000, files: Int = 64,
        _ body: (inout LaunchKeeper, WatchFolder) throws -> Void
    ) throws {
        try withFile { path in
            let folder = try WatchFolder(path + "-folder")
            var keeper = LaunchKeeper(
                in: folder, on: machine,
                LaunchKeeper.Limits(bytes: bytes, launchesOfFile: launches, openFiles: files))
            try body(&keeper, folder)
            for file in folder.files() { unlink(file.path) }
            unlink(folder.path + "/.watch.lock")
            rmdir(folder.path)
        }
    }

    private static func measurements(_ folder: WatchFolder) throws -> [Measurement] {
        try folder.files().map { try MeasurementReader.load(path: $0.path) }
            .sorted { $0.header.date < $1.header.date }
    }

    @Test func launchesOfAProgramAreOneFile() throws {
        try Self.withKeeper { keeper, folder in
            for number in 0..<3 as Range<Int64> {
                let launch = try Self.launch(from: 10 * number, to: 10 * number + 5)
                let kept = try keeper.keep(
                    launch, earliest: nil, at: Self.moment(10 * number + 6))
                #expect(kept.launch.start == .milliseconds(10 * number))
                #expect(kept.launch.wall == .milliseconds(5))
            }
            #expect(keeper.kept == 3 && keeper.hasOpenFiles)
            keeper.finishAll()
            let found = try Self.measurements(folder)
            #expect(found.count == 1)
            let measurement = try #require(found.first)
            #expect(measurement.launches.count == 3 && measurement.header.requested == 3)
            #expect(measurement.header.ending == .complete)
            #expect(measurement.arms.map(\.path) == ["/opt/app"])
            #expect(measurement.launches.first?.phases.map(\.name) == ["Not divided"])
            #expect(measurement.header.date == Self.moment(0).date)
        }
    }

    @Test func programsAndVersionsHaveFilesOfTheirOwn() throws {
        try Self.withKeeper { keeper, folder in
            let launches = try [
                Self.launch(from: 0, to: 1), Self.launch(version: "a", from: 1, to: 2),
                Self.launch("other", from: 2, to: 3), Self.launch(version: "a", from: 3, to: 4),
            ]
            for launch in launches {
                _ = try keeper.keep(launch, earliest: nil, at: Self.moment(5))
            }
            keeper.finishAll()
            #expect(try Self.measurements(folder).count == 3)
        }
    }

    /// Launches that ran side by side: the one that began first may end last.
    @Test func earlierLaunchesFitIntoTheFile() throws {
        try Self.withKeeper { keeper, folder in
            let short = try Self.launch(from: 20, to: 30)
            _ = try keeper.keep(short, earliest: Self.moment(10).time, at: Self.moment(31))
            let long = try Self.launch(from: 10, to: 40)
            let kept = try keeper.keep(long, earliest: nil, at: Self.moment(41))
            #expect(kept.launch.start == .zero)
            // This launch was not known.
            let longest = try Self.launch(from: 5, to: 50)
            _ = try keeper.keep(longest, earliest: nil, at: Self.moment(51))
            keeper.finishAll()
            #expect(try Self.measurements(folder).map(\.launches.count) == [1, 2])
        }
    }

    @Test func fullFilesAreFinished() throws {
        try Self.withKeeper(launches: 2) { keeper, folder in
            for number in 0..<5 as Range<Int64> {
                let launch = try Self.launch(from: number, to: number + 1)
                _ = try keeper.keep(launch, earliest: nil, at: Self.moment(number + 1))
            }
            keeper.finishAll()
            #expect(try Self.measurements(folder).map(\.launches.count) == [2, 2, 1])
        }
    }

    @Test func daysHaveFilesOfTheirOwn() throws {
        let day: Int64 = 86_400_000
        try Self.withKeeper { keeper, folder in
            _ = try keeper.keep(
                Self.launch(from: 0, to: 1), earliest: nil, at: Self.moment(1))
            keeper.finishOld(at: Self.moment(2))
            #expect(keeper.hasOpenFiles)
            keeper.finishOld(at: Self.moment(day))
            #expect(!keeper.hasOpenFiles)
            // One that went over midnight is dated where it began, and alone.
            _ = try keeper.keep(
                Self.launch(from: 10, to: day), earliest: nil, at: Self.moment(day))
            #expect(!keeper.hasOpenFiles)
            #expect(try Self.measurements(folder).count == 2)
        }
    }

    @Test func notTooManyFilesAreOpen() throws {
        try Self.withKeeper(files: 2) { keeper, folder in
            for (number, name) in ["a", "b", "a", "c", "a", "b"].enumerated() {
                let time = Int64(number)
                let launch = try Self.launch(name, from: time, to: time + 1)
                _ = try keeper.keep(launch, earliest: nil, at: Self.moment(time + 1))
            }
            keeper.finishAll()
            // b's first went when c came.
            let counts = try Self.measurements(folder).map {
                "\($0.arms.first?.name ?? "")\($0.launches.count)"
            }
            #expect(counts.sorted() == ["a3", "b1", "b1", "c1"])
        }
    }

    @Test func launchesEndedByASignalDoNotCount() throws {
        try Self.withKeeper { keeper, folder in
            let launch = try Self.launch(from: 0, to: 1, outcome: .signalled(11))
            let kept = try keeper.keep(launch, earliest: nil, at: Self.moment(1))
            #expect(kept.launch.discarded == .failed)
            keeper.finishAll()
            #expect(try Self.measurements(folder).first?.header.requested == 1)
        }
    }

    @Test func theOldestGo() throws {
        try Self.withKeeper(bytes: 100_000, launches: 1) { keeper, folder in
            for number in 0..<20 as Range<Int64> {
                let launch = try Self.launch(from: number, to: number + 1)
                _ = try keeper.keep(launch, earliest: nil, at: Self.moment(number + 1))
            }
            keeper.keepToBound()
            #expect(folder.files().reduce(0) { $0 + $1.size } <= 100_000)
            let left = try Self.measurements(folder)
            #expect(left.last?.header.date == Self.moment(19).date)
            #expect(keeper.dropped.files == 20 - left.count)
            #expect(keeper.dropped.launches == 20 - left.count)
        }
    }

    @Test func openFilesStayAsLongAsTheyFit() {
        let files = (0..<4).map {
            WatchFolder.File(path: "\($0)", size: 10, written: Int64($0))
        }
        #expect(FolderBound.tooMany(files, limit: 40, open: []).isEmpty)
        #expect(FolderBound.tooMany(files, limit: 25, open: []).map(\.path) == ["0", "1"])
        #expect(FolderBound.tooMany(files, limit: 25, open: ["0"]).map(\.path) == ["1", "2"])
        #expect(FolderBound.tooMany(files, limit: 0, open: ["0", "3"]).map(\.path) == ["1", "2"])
    }

    @Test func oneWatchHasAFolder() throws {
        try withFile { path in
            let folder = try WatchFolder(path)
            #expect(throws: WatchFolder.Problem.inUse(path)) { try WatchFolder(path) }
            unlink(folder.path + "/.watch.lock")
            rmdir(folder.path)
        }
    }

    // MARK: Names

    @Test(arguments: [
        ("app", "app"), ("", "_"), (".hidden", "_.hidden"), ("-rf", "_-rf"), ("a b/c\n", "a_b_c_"),
        ("été", "_t_"), (String(repeating: "x", count: 300), String(repeating: "x", count: 60)),
    ])
    func namesAreSafe(name: String, plain: String) {
        #expect(WatchFolder.plain(name) == plain)
    }

    @Test func ourFilesAreKnown() throws {
        try withFile { path in
            let folder = try WatchFolder(path)
            let name = folder.newFile(of: "my-app", date: 1_764_176_731_000_000_000)
            let file = try #require(name.split(separator: "/").last).description
            #expect(file.hasPrefix("my-app-20251126T170531Z-") && WatchFolder.isOurs(file))
            unlink(folder.path + "/.watch.lock")
            rmdir(folder.path)
        }
        let others = [
            "launches.firstlight", "a-b-c.firstlight", "-20251126T170531Z-0f3a5c7.firstlight",
            "app-20251126T170531Z-0f3a5c77", "app-20251126T170531Z-0F3A5C77.firstlight",
            "app-2025112aT170531Z-0f3a5c77.firstlight", ".firstlight", "",
        ]
        for name in others { #expect(!WatchFolder.isOurs(name)) }
    }

    @Test func theSummarySaysWhatIsMissing() {
        var summary = WatchWords.Summary()
        summary.kept = 1
        #expect(summary.text == "1 launch kept")
        summary.notKept = 2
        summary.running = 1
        summary.tally.lostEvents = 5
        #expect(
            summary.text
                == "1 launch kept; 2 not kept (see above); 1 still running, and not kept; 5 events lost"
        )
    }
}

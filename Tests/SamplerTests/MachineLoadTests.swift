import ProfileModel
import Testing

@testable import ProcessIO
@testable import Sampler

/// What else the machine does.
struct MachineLoadTests {
    private static let stat = """
        cpu  420369 2482 22986 179329 1253 7 313 884 50 0
        cpu0 203898 873 10911 97277 288 0 28 426 0 0
        intr 30000 0 0

        """
    private static let pressure = """
        some avg10=97.98 avg60=97.05 avg300=87.15 total=1525045664
        full avg10=0.00 avg60=0.00 avg300=0.00 total=12

        """

    private func totals(_ stat: String, _ core: String = "", _ disk: String = "") -> MachineTotals?
    {
        MachineTotals(
            stat: ProcText(Array(stat.utf8)), core: ProcText(Array(core.utf8)),
            disk: ProcText(Array(disk.utf8)), ticksPerSecond: 100)
    }

    @Test func totalsAreRead() throws {
        let found = try #require(totals(Self.stat, Self.pressure, Self.pressure))
        #expect(found.busy == .milliseconds(10 * (420_369 + 2482 + 22986 + 7 + 313)))
        #expect(found.idle == .milliseconds(10 * (179_329 + 1253)))
        #expect(found.stolen == .milliseconds(8840))
        #expect(found.corePressure?.nanoseconds == 1_525_045_664_000)
        #expect(found.diskPressure == found.corePressure)
    }

    @Test(arguments: ["", "cpu", "cpu  1 2 3", "cpu  1 2 3 4 5 6 7", "intr 5", "cpu  a b c"])
    func withoutFiguresThereIsNothing(stat: String) {
        #expect(totals(stat) == nil)
    }

    @Test(arguments: ["", "some", "some avg10=0.00", "full avg10=0 total=5", "some total=x"])
    func pressureMayBeUnknown(text: String) throws {
        #expect(try #require(totals(Self.stat, text)).corePressure == nil)
    }

    @Test func absurdFiguresAreNoTrap() {
        let huge = "cpu " + (0..<8).map { _ in " \(Int64.max)" }.joined()
        let end = totals(huge, "some avg total=\(Int64.max)")
        guard let end, let start = totals(Self.stat) else {
            Issue.record("not read")
            return
        }
        let notes = MachineLoad.notes(
            from: start, to: end, wall: .milliseconds(1000), cores: 2, ours: .zero)
        #expect(notes.values.allSatisfy { 0...1000 ~= $0 })
    }

    private func notes(
        busy: Int64 = 0, stolen: Int64 = 0, core: Int64? = nil, disk: Int64? = nil, ours: Int64 = 0,
        wall: Int64 = 1000
    ) -> [RecorderNote.Kind: Int64] {
        let start = MachineTotals(
            busy: .milliseconds(7000), stolen: .milliseconds(10),
            corePressure: core.map { _ in .milliseconds(50) },
            diskPressure: disk.map { _ in .milliseconds(60) })
        let end = MachineTotals(
            busy: start.busy + .milliseconds(busy), stolen: start.stolen + .milliseconds(stolen),
            corePressure: core.map { .milliseconds(50 + $0) },
            diskPressure: disk.map { .milliseconds(60 + $0) })
        return MachineLoad.notes(
            from: start, to: end, wall: .milliseconds(wall), cores: 2, ours: .milliseconds(ours))
    }

    @Test func othersAreWhatIsLeft() {
        #expect(notes(busy: 1500, ours: 500) == [.busyElsewhere: 500])
        #expect(notes(busy: 500, ours: 500).isEmpty)
        // The kernel counts in ticks, we do not.
        #expect(notes(busy: 500, ours: 508).isEmpty)
        #expect(notes(busy: 9000) == [.busyElsewhere: 1000])
    }

    @Test func sharesOfCoresAndOfTime() {
        #expect(
            notes(stolen: 200, core: 300, disk: 40)
                == [.stolen: 100, .corePressure: 300, .diskPressure: 40])
    }

    @Test func ofShortRecordingsNothingIsSaid() {
        #expect(notes(busy: 400, wall: 249).isEmpty)
        #expect(notes(busy: 400, wall: 250) == [.busyElsewhere: 800])
    }

    @Test func itWorksHere() throws {
        let totals = try #require(MachineTotals.now)
        #expect(totals.busy > .zero)
    }

    @Test func waitedForChildrenAreCounted() {
        let stat = ProcessStat(ProcText(Array(ProcSamples.stat.utf8)))
        #expect(stat?.childrenTicks == 0 && stat?.childrenFaults == 5)
        let text = ProcSamples.stat.replacing(" 3 7 0 0 0 0 20 0", with: " 3 7 0 0 12 30 20 0")
        #expect(ProcessStat(ProcText(Array(text.utf8)))?.childrenTicks == 42)
        #expect(ProcessStat(ProcText(Array(text.utf8)))?.stackStart == 140_730_372_246_992)
    }
}

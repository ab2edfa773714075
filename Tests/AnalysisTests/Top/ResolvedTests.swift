import Analysis
import MadeRecordings
import ProfileModel
import Testing

/// Things that were marked as resolved, and their later state. Launches have the dates 0, 100, 200
/// …
@Suite struct ResolvedTests {
    private func launch(_ milliseconds: Int64, build: UInt8? = nil, also: Int64 = 0) -> Profile {
        TopSummaryTests.launch(
            [(["main", "slow"], milliseconds), (["main", "also"], also), (["main"], 1)]
                .filter { $0.1 > 0 }, build: build)
    }

    private func entry(
        _ name: String, since: Int64, build: String = "", module: String? = nil,
        kind: TopKind = .function
    ) -> ResolvedEntry {
        ResolvedEntry(
            ResolvedEntry.Thing(kind, name, module: module), since: since, build: build)
    }

    private func state(_ profiles: [Profile], _ entry: ResolvedEntry) throws -> ResolvedState? {
        let summary = try TopSummaryTests.summary(profiles, resolved: [entry])
        let program = try #require(summary.programs.first)
        let state = program.resolved.first
        #expect(program.resolved.count + summary.unseen.count == 1)
        // The list says the same.
        let thing = program.things[.function]?.first { $0.function.name == entry.thing.name }
        #expect(thing?.resolved == state?.status)
        return state
    }

    @Test func itComesBack() throws {
        let profiles = [launch(30), launch(0), launch(20), launch(10)]
        let state = try #require(try state(profiles, entry("slow", since: 50)))
        #expect(state.status == .back)
        #expect(state.older.launches == 1 && state.older.total?.mean == .milliseconds(30))
        #expect(state.newer.launches == 3 && state.newer.seen == 2)
        #expect(state.newer.total?.mean == .milliseconds(10))
        #expect(state.least == .milliseconds(1))
    }

    @Test func itIsGone() throws {
        let state = try #require(
            try state([launch(30), launch(0), launch(0)], entry("slow", since: 50)))
        #expect(state.status == .gone && state.newer.launches == 2)
    }

    /// A fixed function need not be deleted: a tiny cost does not count as back.
    @Test func aTinyCostIsNotBack() throws {
        let quick = TopSummaryTests.launch { builder, main in
            builder.slice(main, at: 30, running: 0, runnable: 0, builder.stack("main", "slow"))
            builder.recording.slices[builder.recording.slices.count - 1].times.running =
                TimeSpan(nanoseconds: 900_000)
        }
        let state = try #require(try state([launch(30), quick], entry("slow", since: 50)))
        #expect(state.status == .small && state.newer.seen == 1)
    }

    @Test func nothingIsNewer() throws {
        let profiles = [launch(30), launch(20)]
        // A recording of the very second counts as older.
        #expect(try state(profiles, entry("slow", since: 100))?.status == .untested)
        #expect(try state(profiles, entry("slow", since: 99))?.status == .back)
        // Launching the old build once more does not bring the thing back.
        let old = [launch(30, build: 7), launch(20, build: 7), launch(0, build: 8)]
        #expect(try state(old, entry("slow", since: 0, build: "07"))?.status == .gone)
        #expect(try state(old, entry("slow", since: 0))?.status == .back)
        #expect(try state(old, entry("slow", since: 0, build: "08"))?.status == .back)
    }

    @Test func itWasNeverSeen() throws {
        #expect(try state([launch(30)], entry("other", since: 50)) == nil)
        #expect(try state([launch(30)], entry("slow", since: 0, module: "libx.so")) == nil)
        #expect(try state([launch(30)], entry("slow", since: 0, kind: .wait)) == nil)
        #expect(try state([launch(30)], entry("slow", since: 0, module: "app")) != nil)
    }

    @Test func returnedFunctionsComeFirst() throws {
        let profiles = [launch(30, also: 5), launch(20, also: 40)]
        let entries = [
            entry("main", since: 500), entry("slow", since: 50), entry("also", since: 50),
        ]
        let program = try TopSummaryTests.summary(profiles, resolved: entries).programs.first
        #expect(program?.resolved.map(\.entry.thing.name) == ["also", "slow", "main"])
    }

    @Test func theLastEntryCounts() {
        let entries = [
            entry("a", since: 5), entry("b", since: 1), entry("a", since: 9),
            entry("a", since: 7), entry("a", since: 9, kind: .wait),
        ]
        #expect(
            entries.latest == [
                entry("a", since: 9), entry("b", since: 1), entry("a", since: 9, kind: .wait),
            ])
    }

    /// Entries with less detail about a thing are the same entry.
    @Test func aLaterEntryThatSaysMore() throws {
        let profiles = [launch(30), launch(20), launch(10)]
        let entries = [entry("slow", since: 50), entry("slow", since: 150, module: "app")]
        for entries in [entries, entries.reversed()] {
            let summary = try TopSummaryTests.summary(profiles, resolved: entries)
            let resolved = try #require(summary.programs.first).resolved
            #expect(resolved.map(\.entry.since) == [150] && summary.unseen.isEmpty)
            #expect(resolved.first?.newer.launches == 1)
        }
    }

    // MARK: Dealing with something

    private func sums(_ profiles: [Profile]) -> TopSums {
        var sums = TopSums()
        for (index, profile) in profiles.enumerated() {
            sums.add(profile, TopLaunch(path: "", date: Int64(index)))
        }
        return sums
    }

    @Test func names() throws {
        let sums = sums([launch(30, build: 7), launch(20, build: 8), launch(0, build: 9)])
        // The newest build that still had it.
        let wanted = [entry("slow", since: 44, build: "08", module: "app")]
        #expect(try sums.entries(resolving: "slow", nil, date: 44) == wanted)
        #expect(try sums.entries(resolving: "sl", .function, date: 44) == wanted)
        #expect(throws: TopError.unknownThing("nothing")) {
            try sums.entries(resolving: "nothing", nil, date: 0)
        }
        #expect(throws: TopError.unknownThing("slow")) {
            try sums.entries(resolving: "slow", .library, date: 0)
        }
        let several = TopSums.two(launch(3, also: 3), TopSummaryTests.launch([(["slower"], 3)]))
        // Whole names are names.
        #expect(try several.entries(resolving: "slow", nil, date: 0).count == 1)
        #expect(throws: TopError.severalThings("slo", found: ["slow", "slower"])) {
            try several.entries(resolving: "slo", nil, date: 0)
        }
    }

    @Test func fromNowOnItIsDealtWith() throws {
        let sums = sums([launch(30, build: 7), launch(20, build: 8)])
        let added = try sums.entries(resolving: "slow", nil, date: 44)
        let summary = try TopSummary(sums, resolvedNow: added)
        let program = try #require(summary.programs.first)
        #expect(program.resolved.map(\.status) == [.untested])
        #expect(program.resolved.first?.older.total?.mean == .milliseconds(25))
        let thing = program.things[.function]?.first { $0.function.name == "slow" }
        #expect(thing?.resolved == .untested)
        #expect(summary.unseen.isEmpty)
    }
}

extension TopSums {
    fileprivate static func two(_ first: Profile, _ second: Profile) -> TopSums {
        var sums = TopSums()
        sums.add(first, TopLaunch(path: "", date: 0))
        sums.add(second, TopLaunch(path: "", date: 1))
        return sums
    }
}

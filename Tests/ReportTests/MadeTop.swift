import Analysis
import ProfileModel

/// Launches of the demonstration in two versions, of which the later one does without the
/// initialiser.
enum MadeTop {
    /// 2026-11-24 12:00:00 UTC, and an hour later.
    static let (day, hour): (Int64, Int64) = (1_795_521_600, 3_600)

    /// - Parameter change: of the recording, as if the program had been another.
    static func profile(
        build: UInt8, _ change: (inout Recording) -> Void = { _ in }
    ) -> Profile {
        var recording = StarSearcher.recordingWithFacts()
        for index in recording.modules.indices {
            recording.modules[index].buildID = [build, 0xfe, 0x12, 0x34, 0x56, 0x78]
        }
        change(&recording)
        return Profile(recording)
    }

    /// Scales the time of stacks that contain a function, in per cent of its old value.
    static func slow(_ function: String, by percent: Int64, _ recording: inout Recording) {
        let addresses = Set(
            recording.symbols.frames.filter { $0.value.contains { $0.function == function } }
                .map(\.key))
        for index in recording.slices.indices {
            guard let stack = recording.slices[index].stack,
                recording.stacks.frames(of: stack).contains(where: addresses.contains)
            else { continue }
            let running = recording.slices[index].times.running.nanoseconds
            recording.slices[index].times.running = TimeSpan(
                nanoseconds: running / 100 * percent)
        }
    }

    static func summary(resolved: [ResolvedEntry] = []) throws -> TopSummary {
        var sums = TopSums(resolved: resolved)
        for launch in 0..<5 as Range<Int64> {
            let profile = profile(build: launch < 3 ? 0xa1 : 0xb2) { recording in
                slow("StarSearcher::buildFirstFrame()", by: 100 - 5 * launch, &recording)
                guard launch >= 3 else { return }
                recording.initializers = []
                slow("SuperfastLogger::warmUp()", by: 1, &recording)
            }
            sums.add(
                profile,
                TopLaunch(path: "/recordings/\(launch)", date: day + hour * launch))
        }
        return try TopSummary(sums)
    }

    static let resolved = [
        ResolvedEntry(
            ResolvedEntry.Thing(.function, "StarSearcher::buildFirstFrame()"), since: day),
        ResolvedEntry(
            ResolvedEntry.Thing(.function, "SuperfastLogger::warmUp()", module: "libsuperlog.so"),
            since: day + 2 * hour, build: "a1fe"),
        ResolvedEntry(ResolvedEntry.Thing(.library, "libthemes.so"), since: day + 9 * hour),
        ResolvedEntry(ResolvedEntry.Thing(.function, "forgotten"), since: day),
    ]
}

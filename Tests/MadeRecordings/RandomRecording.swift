package import ProfileModel
import TestSupport

extension RecordingBuilder {
    /// A launch of 100 ms with a few threads whose slices tile their lives, at odd times that no
    /// border divides evenly.
    package static func random(seed: UInt64) -> Recording {
        var random = SeededNumbers(seed: seed)
        var builder = RecordingBuilder(images: [("/home/dev/app", 1)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 1)
        builder.border(.relocated, 7)
        builder.border(.main, 31)
        builder.border(.ended, 100)
        let names = ["main", "alpha", "beta", "gamma", "delta", "alpha"]
        for index in 0..<4 {
            let thread = builder.thread(
                index == 0 ? "app" : "worker", tid: 100 + Int32(index), from: Int64(index) * 9,
                to: 100, isMain: index == 0)
            var time = at(Int64(index) * 9)
            while time < at(100) {
                let rest = (at(100) - time).nanoseconds
                let wall = min(rest, Int64.random(in: 1...2_999_999, using: &random))
                let cuts = (0..<3).map { _ in Int64.random(in: 0...wall, using: &random) }.sorted()
                let times = StateTimes(
                    running: TimeSpan(nanoseconds: cuts[0]),
                    runnable: TimeSpan(nanoseconds: cuts[1] - cuts[0]),
                    preempted: TimeSpan(nanoseconds: cuts[2] - cuts[1]),
                    blocked: TimeSpan(nanoseconds: wall - cuts[2]))
                let depth = Int.random(in: 0...7, using: &random)
                let spots = (0..<depth).map { _ in
                    Spot(
                        names.randomElement(using: &random), file: "app.c",
                        line: Int32.random(in: 1...3, using: &random))
                }
                builder.recording.slices.append(
                    Slice(
                        thread: thread, start: time, times: times, stack: builder.stack(spots),
                        systemCall: [nil, -1, 0, 202].randomElement(using: &random) ?? nil,
                        truncation: Int.random(in: 0..<20, using: &random) == 0
                            ? .stackLimit : nil))
                time = time + TimeSpan(nanoseconds: wall)
            }
        }
        return builder.recording
    }
}

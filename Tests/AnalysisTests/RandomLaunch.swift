import Analysis
import MadeRecordings
import ProfileModel
import TestSupport

/// Launches by chance, the same from the same seed.
enum RandomLaunch {
    /// Of any kind: with wrappers, phases of the program's own, without some borders, with
    /// time that is missing or told of twice.
    static func profile(seed: UInt64) -> Profile {
        var recording = RecordingBuilder.random(seed: seed)
        var random = SeededNumbers(seed: seed &+ 1_000)
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
        if chance(30) {
            recording.images.insert(
                Image(path: "/bin/sh", arguments: [], time: RecordingBuilder.at(1)), at: 0)
            recording.images[1].time = RecordingBuilder.at(5)
            recording.borders.insert(
                LaunchBorder(kind: .firstInstruction, time: RecordingBuilder.at(5)), at: 2)
        }
        for kind in [LaunchBorder.Kind.relocated, .main] where chance(15) {
            recording.borders.removeAll { $0.kind == kind }
        }
        let ended = RecordingBuilder.at(Int64.random(in: 60...140, using: &random))
        recording.borders[recording.borders.count - 1].time = ended
        for name in ["Load", "Show", "Load"] where chance(40) {
            let start = Int64.random(in: 31...90, using: &random)
            recording.intervals.append(
                Interval(
                    name: name, category: "launch", thread: ThreadIndex(0),
                    start: RecordingBuilder.at(start),
                    end: RecordingBuilder.at(start + Int64.random(in: 1...30, using: &random))))
        }
        recording.slices.removeAll { _ in chance(3) }
        for index in recording.slices.indices where chance(10) {
            recording.slices[index].stack = nil
        }
        if chance(20), let copy = recording.slices.randomElement(using: &random) {
            recording.slices.append(copy)
        }
        return Profile(recording)
    }
}

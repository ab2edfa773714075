import Analysis
import ProfileModel

/// A sentence about phase boundaries that the recorder did not see, so that the launch has fewer
/// phases.
struct UndividedPhases {
    private let profile: Profile

    init(_ profile: Profile) { self.profile = profile }

    /// nil: the launch is divided, or another note says why it is not.
    var words: String? {
        if profile.notes.contains(where: { $0.kind == .narrowProgram }) { return nil }
        let missing: String
        if has(Phase.Names.undivided) {
            missing =
                has(Phase.Names.linking)
                ? "where main began" : "where dynamic linking ended and main began"
        } else if has(Phase.Names.beforeMain) {
            missing = "where dynamic linking ended"
        } else {
            return nil
        }
        return "\(missing) was not seen (\(reason)): that time is not divided"
    }

    private func has(_ name: String) -> Bool {
        profile.phases.contains { $0.wholeName == name }
    }

    private var reason: String {
        if profile.header.capture == .perf { return "perf does not record it" }
        if profile.notes.contains(where: { $0.kind == .lateExec }) {
            return "it was executed unnoticed"
        }
        return profile.notes.contains { Self.obstacles.contains($0.kind) }
            ? "our code was not in the program" : "the program's linker or start code does not tell"
    }

    /// Notes whose cause kept the recorder's code out of the program.
    private static let obstacles: Set<RecorderNote.Kind> = [
        .filtered, .ownHandler, .occupied, .noRoom, .limited, .unmapped, .unwritable, .lateEntry,
        .shadowStack, .otherClock,
    ]
}

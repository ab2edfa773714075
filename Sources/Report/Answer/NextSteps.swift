import Analysis
import ProfileModel

/// Commands that show more of the same launch.
struct NextSteps {
    let profile: Profile
    /// The recording's file as an argument of a command; nil: it is the file that commands read by
    /// default.
    let file: String?

    private static let most = 2
    /// If the command is longer, it is shown without the program's command line, which the reader
    /// typed before.
    private static let longest = 70
    private static let following = "--follow-children"

    /// The command, and the information that it shows.
    typealias Step = (command: String, purpose: String)

    var steps: [Step] {
        let better =
            [names].compactMap { $0 }
            + (isRecordedLaunch ? [children, runtime, stackBytes].compactMap { $0 } : [])
        let views = [libraries, initializers, imports, criticalPath].compactMap { $0 }
        return Array((better + views + [page]).prefix(Self.most))
    }

    // MARK: Other recordings

    /// True if `record` made this recording by starting the program, so that it can do so again.
    private var isRecordedLaunch: Bool {
        !profile.header.isAttached && profile.header.capture != .perf
    }

    private var children: Step? {
        guard profile.processes.count <= 1 else { return nil }
        // Some programs wait for a child's output instead, or poll for its end. Each such wait is
        // shorter than the shortest wait that is recorded.
        let waited =
            profile.hasUnrecordedChildren
            ? blocked
            : profile.waits.filter { $0.reason.kind == .child }
                .reduce(TimeSpan.zero) { $0 + $1.duration }
        return isWorth(waited)
            ? recording(Self.following, "what the children did") : nil
    }

    private var names: Step? {
        profile.unnamedProgram.map {
            let name = Module(path: profile.modules[$0.module].path).name
            return report("modules", "where names of \(name)'s functions are")
        }
    }

    private var runtime: Step? {
        let isNode = ["node", "nodejs"].contains(profile.program.name)
        let isKnown = profile.frames.functions.contains { $0.language == .javaScript }
        return isNode && !isKnown
            ? recording("--runtime node", "JavaScript by its names") : nil
    }

    private var stackBytes: Step? {
        let cut = profile.launch.truncations[.stackLimit] ?? 0
        return cut > 0 && cut * 10 >= profile.launch.slices && !profile.hasSplitStacks
            ? recording("--stack-bytes 1048576", "the callers of cut stacks") : nil
    }

    private func recording(_ option: String, _ purpose: String) -> Step {
        // The interpreter's arguments include the script's name.
        let program = profile.program.startedAs.map(\.forShell).joined(separator: " ")
        let isFollowing = profile.processes.count > 1 && option != Self.following
        let options = option + (isFollowing ? " " + Self.following : "")
        let command = "firstlight record \(options) \(program)"
        guard !program.isEmpty, command.utf8.count <= Self.longest else {
            return ("firstlight record \(options) …", "and the same program: " + purpose)
        }
        return (command, purpose)
    }

    // MARK: Views

    private var libraries: Step? {
        isWorth(wall(of: Phase.Names.linking)) && profile.libraries.count > 1
            ? report("libraries", "what each library costs") : nil
    }

    private var initializers: Step? {
        isWorth(wall(of: Phase.Names.initialisers)) && !profile.initializers.isEmpty
            ? report("initializers", "each initialiser") : nil
    }

    private var imports: Step? {
        isWorth(wall(of: Phase.Names.imports)) ? report("imports", "what each import costs") : nil
    }

    private var criticalPath: Step? {
        isWorth(awaited) && profile.header.account == .wakeups
            ? report("critical-path", "who was waited for") : nil
    }

    /// The main thread's waits that a recorded thread ended. Only recorded threads are on the
    /// critical path.
    private var awaited: TimeSpan {
        let recorded = Set(profile.threads.map(\.tid))
        return profile.waits.filter { wait in
            profile.mainThread.isMain(wait.thread, at: wait.start)
                && (wait.endedBy.map { recorded.contains($0.tid) } ?? false)
        }.reduce(.zero) { $0 + $1.duration }
    }

    /// The main thread's waits.
    private var blocked: TimeSpan {
        profile.phases.reduce(.zero) { $0 + $1.mainThread.blocked }
    }

    private var page: Step {
        ("firstlight view" + operand, "timeline and call trees in a browser")
    }

    private func report(_ view: String, _ purpose: String) -> Step {
        ("firstlight report --view \(view)" + operand, purpose)
    }

    private var operand: String { file.map { " " + $0.forShell } ?? "" }

    private func wall(of phase: String) -> TimeSpan {
        profile.phases.reduce(.zero) { $1.name == phase ? $0 + $1.wall : $0 }
    }

    /// True for at least a fifth of the launch.
    private func isWorth(_ time: TimeSpan) -> Bool {
        time > .zero && Double(time.nanoseconds) >= 0.2 * Double(profile.launch.wall.nanoseconds)
    }
}

extension Profile {
    /// True if the program started processes that were not recorded. Recordings from other tools
    /// and from earlier versions lack this information.
    var hasUnrecordedChildren: Bool { notes.contains { $0.kind == .unrecordedChildren } }
}

extension String {
    /// As a word of a shell's command line.
    fileprivate var forShell: String {
        let isPlain =
            !isEmpty
            && utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte)
                    || (0x30...0x39).contains(byte) || "-_./=:,+@%".utf8.contains(byte)
            }
        return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
    }
}

extension Profile {
    /// True if stacks continue elsewhere (gcc's -fsplit-stack): a longer stack copy would not
    /// include their callers.
    var hasSplitStacks: Bool { frames.functions.contains { $0.name == "__morestack" } }
}

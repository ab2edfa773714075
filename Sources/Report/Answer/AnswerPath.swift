import Analysis
import Exports
import ProfileModel

/// The heaviest path of the launch: the path of the dominant child, or else of the longest phase
/// and its most important thread.
struct AnswerPath {
    let stack: HeaviestStack
    /// Positions in it: ``Profile/unnamedLibraries(in:)``.
    private let unnamedLibraries: Set<Int>
    /// "Main", "cc1 (4711)": the phase or process of the path.
    private let subject: String
    /// "Main, main thread: heaviest path".
    let caption: String

    /// nil: nothing was sampled.
    init?(_ answer: Answer) {
        let profile = answer.profile
        var selection = answer.selection
        var (subject, suffix) = ("", "")
        var weight = answer.weight
        if let process = Self.dominant(answer) {
            let figures = profile.processes[process]
            selection.threads = Set(figures.threads)
            subject = "\(figures.label) (\(figures.pid))"
        } else {
            guard let phase = Self.longestPhase(answer) else { return nil }
            let figures = profile.phase(phase, in: selection)
            selection.phases = [phase]
            subject = figures.name
            if selection.threads == nil {
                let isMain =
                    Self.isAtLeast(0.5, figures.mainThread.running, of: figures.cpu)
                    || Self.isAtLeast(0.3, figures.mainThread.running, of: figures.wall)
                // If a thread mostly waits, its few CPU samples do not explain its time.
                let isWaiting = !Self.isAtLeast(0.2, figures.cpu, of: figures.wall)
                selection.isOfMainThread = isMain || isWaiting
                suffix =
                    isMain || isWaiting
                    ? ", main thread" : Self.together(profile.timesByThread(in: selection))
                if isWaiting { weight = weight ?? .wall }
            }
        }
        stack = profile.heaviestStack(selection, weight: weight ?? .cpu)
        guard !stack.entries.isEmpty else { return nil }
        unnamedLibraries = profile.unnamedLibraries(in: stack.entries.map(\.frame))
        self.subject = subject
        caption = subject.escapedForDisplay + suffix + ": heaviest path"
    }

    /// A child process with at least half of the CPU time.
    private static func dominant(_ answer: Answer) -> Int? {
        guard answer.selection.threads == nil else { return nil }
        if case .dominantProcess(let index)? = answer.findings.first?.subject { return index }
        let times = answer.profile.timesByThread(in: answer.selection)
        let heaviest = answer.profile.heaviestProcess(in: answer.selection, weight: .cpu)
        guard let heaviest, heaviest > 0 else { return nil }
        let own = answer.profile.processes[heaviest].threads.reduce(TimeSpan.zero) {
            $0 + times[$1].running
        }
        return isAtLeast(0.5, own, of: times.reduce(.zero) { $0 + $1.running }) ? heaviest : nil
    }

    /// Says how many threads are summed, because their total may exceed the phase's length.
    private static func together(_ threads: [StateTimes]) -> String {
        let count = threads.count { $0.wall > .zero }
        return count > 1 ? ", \(count) threads together" : ""
    }

    private static func longestPhase(_ answer: Answer) -> Int? {
        answer.profile.phases.indices.filter { answer.selection.phases?.contains($0) ?? true }
            .max {
                answer.profile.phase($0, in: answer.selection).wall
                    < answer.profile.phase($1, in: answer.selection).wall
            }
    }

    private static func isAtLeast(_ share: Double, _ part: TimeSpan, of whole: TimeSpan) -> Bool {
        part > .zero && Double(part.nanoseconds) >= share * Double(whole.nanoseconds)
    }

    /// The informative frames, outermost first.
    ///
    /// - Parameter most: how many at most.
    func entries(of frames: FrameTable, most: Int) -> [HeaviestStack.Entry] {
        let whole = Double(stack.weight.of(stack.total).nanoseconds)
        let least = whole * Self.leastShare
        let kept = stack.entries.prefix { Double(stack.weight.of($0.total).nanoseconds) >= least }
        let path = Array(stack.entries.prefix(max(1, kept.count)))
        let hasScript = path.contains { frames.function(of: $0.frame).isScripted }
        var kernels = 0
        let telling = path.enumerated().filter { position, entry in
            let function = frames.function(of: entry.frame)
            guard unnamedLibraries.contains(position) || !Self.isPlumbing(entry.frame, frames),
                !(hasScript && Self.isInterpreters(function))
            else { return false }
            // A reader rarely needs the kernel's inner functions: only the outermost ones are kept.
            kernels += function.isKernel ? 1 : 0
            return !function.isKernel || kernels <= Self.mostKernels
        }.map(\.element)
        return StackDigest(
            path: telling.isEmpty
                ? Array(
                    (path.first { frames.function(of: $0.frame).isUnnamed } ?? path.last).map {
                        [$0]
                    } ?? [])
                : Self.once(telling, frames),
            weight: stack.weight, frames: frames
        ).most(most)
    }

    /// Each function only where it occurs first. This removes recursion, and an interpreter's own
    /// functions between two functions of a script.
    private static func once(
        _ path: [HeaviestStack.Entry], _ frames: FrameTable
    ) -> [HeaviestStack.Entry] {
        var seen: Set<FunctionID> = []
        return path.filter { seen.insert(frames[$0.frame].function).inserted }
    }

    /// "most of Main is in readCatalogue (stars.c:12): 50.1 ms of its 91.2 ms of CPU"; nil: no one function has so
    /// much, or this is not where the launch's CPU time went.
    func centre(_ profile: Profile) -> String? {
        // With few samples, the function with the most samples is a matter of chance.
        guard profile.header.missedSamples <= profile.header.samples, stack.weight == .cpu,
            let centre = profile.centre(of: stack),
            let time = stack.entries.last(where: { $0.frame == centre })?.total.running,
            time.nanoseconds * 2 >= stack.total.running.nanoseconds,
            stack.total.running.nanoseconds * 2 >= profile.times(in: .all).running.nanoseconds
        else { return nil }
        let place = profile.frames[centre].place
        let name = profile.frames.function(of: centre).name.shortenedFunction(to: Self.nameWidth)
        return "most of \(subject) is in \(name)" + (place.isEmpty ? "" : " (\(place))")
            + ": \(Numbers.time(time)) of its \(Numbers.time(stack.total.running)) of CPU"
    }

    private static let nameWidth = 40

    /// "Main, main thread: heaviest path, 9 of 34 functions".
    func caption(showing count: Int) -> String {
        let all = stack.entries.count
        return caption + (count < all ? ", \(count) of \(all) functions" : "")
    }

    /// Frames with less than this share of the path's weight are not shown.
    private static let leastShare = 0.05

    private static let mostKernels = 2

    /// True for the start of every program, an interpreter's frames between two functions of a
    /// script, and functions that the compiler inlined into their caller.
    private static func isPlumbing(_ frame: FrameID, _ frames: FrameTable) -> Bool {
        let function = frames.function(of: frame)
        if entries.contains(function.name) || function.name.hasPrefix("__libc_start") {
            return true
        }
        if function.isOwn { return false }
        return frames[frame].isInlined || function.isUnnamed || function.name == "main"
            || function.isEvaluator
    }

    /// If a script's functions are shown, the interpreter's own functions add nothing.
    private static func isInterpreters(_ function: Function) -> Bool {
        !function.isScripted && !function.isImport
            && ["libpython", "python", "node"].contains(where: function.module.hasPrefix)
    }

    /// Entry functions of programs, threads and the kernel.
    private static let entries: Set<String> = [
        "_start", "_dl_start_user", "start_thread", "clone", "clone3", "__clone", "__clone3",
        "_dl_start", "_dl_start_final", "_dl_sysdep_start", "dl_main", "_dl_init", "call_init",
        "entry_SYSCALL_64_after_hwframe", "do_syscall_64", "x64_sys_call", "exc_page_fault",
        "do_user_addr_fault", "handle_mm_fault", "__handle_mm_fault", "handle_pte_fault",
    ]
}

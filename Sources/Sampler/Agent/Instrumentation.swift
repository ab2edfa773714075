import Agent
import CAgent
import Images
import ProfileModel

/// Our code in a running image: the area, and how much of its notes was reported.
final class Instrumentation {
    let area: AgentMemory
    /// nil: stacks are not taken by signal. If they are, most threads are not traced.
    let signals: SignalCapture?
    var hooks: Hooks
    var borders = ReportedBorders()
    var masks = MaskStaleness()
    /// What our code is to change in the program before anything of it runs.
    var patches: ArraySlice<AgentMemory.Patch> = []
    /// The places where the recorder has hooked calls, or has had them hooked.
    var sites: Set<UInt64> = []
    /// True if what the start-up loaded was handled while a thread waited for this.
    var hasServedGate = false
    private var setup: Setup

    /// Facts found when our code was brought in.
    struct Setup {
        /// The image's linker, if it reports and has not yet reported the start-up's libraries.
        var linker: DynamicLinker?
        /// The linker's hook that leads to our code, and its original word.
        var linkerHook: (address: UInt64, word: UInt64)?
        /// nil: the image has a dynamic linker.
        var loneProgram: LoneProgram?
        /// True if our code notes when `main` begins.
        var notesMain = false
        /// As ``ImageStart/runsLinker``.
        var runsLinker = false
    }

    init(_ area: AgentMemory, _ setup: Setup, hooks: Hooks, signals: SignalCapture?) {
        self.area = area
        self.setup = setup
        self.hooks = hooks
        self.signals = signals
    }

    var linker: DynamicLinker? { setup.linker }
    var notesMain: Bool { setup.notesMain }
    var runsLinker: Bool { setup.runsLinker }
    var loneProgram: LoneProgram? { setup.loneProgram }
    /// True if our code notes the launch's borders, or will.
    var watchesLaunch: Bool { setup.notesMain || setup.linkerHook != nil }
    /// True if the linker calls our code.
    var hasLinkerHook: Bool { setup.linkerHook != nil }

    /// The place of `main` was found after the relocation, and passed to our code.
    func willNoteMain() { setup.notesMain = true }

    /// The original word to restore at the linker's hook, once.
    func takeLinkerHook() -> (address: UInt64, word: UInt64)? {
        defer { setup.linkerHook = nil }
        return setup.linkerHook
    }

    /// True if the program's changes of signal masks pass our code.
    var seesMasks: Bool { area[\.hooked] & 1 << UInt64(CallSites.Call.sigmask.index) != 0 }

    /// How many libraries the linker has loaded; nil if it does not report to us.
    var loadedLibraries: Int? {
        hasLinkerHook && area.hasRoomForLoads ? area.counts.libraries : nil
    }
}

/// Which of the launch's borders were reported.
struct ReportedBorders {
    private var told: Set<NotedBorder> = []
    private var hasToldGate = false
    private var hasBegun = false

    /// True once: from now on our code's notes can be reported. Before the program's code is
    /// changed, nothing in it leads to ours.
    mutating func beginWatch(by area: AgentMemory) -> Bool {
        guard area.isSettled, !area.lacksPatches else { return false }
        defer { hasBegun = true }
        return !hasBegun
    }

    /// The next border that was reached but not reported; a static program is never relocated.
    mutating func next(of area: AgentMemory) -> (border: NotedBorder, moment: AgentMemory.Moment)? {
        guard told.count < NotedBorder.allCases.count else { return nil }
        for border in NotedBorder.allCases where !told.contains(border) {
            guard let moment = area.border(border) else { continue }
            told.insert(border)
            return (border, moment)
        }
        return nil
    }

    /// When a thread waited for us to be ready, once the wait is over and was not reported.
    mutating func gate(of area: AgentMemory) -> (start: MonotonicTime, end: MonotonicTime)? {
        guard !hasToldGate, let start = area.time(\.gate_ns), let end = area.time(\.gate_end_ns)
        else { return nil }
        hasToldGate = true
        return (start, end)
    }
}

import CAgent
import ProfileModel

/// Our code in a running image: the area, and how far what it noted was told.
final class Instrumentation {
    let area: Area
    /// nil: stacks are not taken by signal. Most threads are not traced where they are.
    let signals: SignalCapture?
    var hooks: Hooks
    var borders = BorderWatch()
    var masks = MaskWatch()
    /// Where the recorder has led calls past us, or has it done.
    var sites: Set<UInt64> = []
    /// Whether what the start-up loaded was taken care of while a thread waited for that.
    var hasServedGate = false
    private var setup: Setup

    /// What was found when it was brought in.
    struct Setup {
        /// The image's linker, if it tells, and has yet to tell of the start-up's libraries.
        var linker: DynamicLinker?
        /// The linker's hook that leads to our code, and the word that was there.
        var linkerHook: (address: UInt64, word: UInt64)?
        /// nil: it has a dynamic linker.
        var loneProgram: LoneProgram?
        /// Whether our code notes when `main` begins.
        var notesMain = false
    }

    init(_ area: Area, _ setup: Setup, hooks: Hooks, signals: SignalCapture?) {
        self.area = area
        self.setup = setup
        self.hooks = hooks
        self.signals = signals
    }

    var linker: DynamicLinker? { setup.linker }
    var notesMain: Bool { setup.notesMain }
    var loneProgram: LoneProgram? { setup.loneProgram }
    /// Whether it notes the launch's borders, or will.
    var watchesLaunch: Bool { setup.notesMain || setup.linkerHook != nil }
    /// Whether the linker passes by us.
    var hasLinkerHook: Bool { setup.linkerHook != nil }

    /// What is to be put back where the linker's hook is, once.
    func takeLinkerHook() -> (address: UInt64, word: UInt64)? {
        defer { setup.linkerHook = nil }
        return setup.linkerHook
    }

    /// Whether the program's changes of signal masks pass by us.
    var seesMasks: Bool { area[\.hooked] & 1 << UInt64(CallSites.Call.sigmask.index) != 0 }

    /// How many libraries the linker has loaded; nil where it does not tell.
    var loadedLibraries: Int? {
        hasLinkerHook && area.hasRoomForLoads ? area.counts.libraries : nil
    }
}

/// A static program, of which nobody has a list of libraries.
struct LoneProgram {
    var object: LinkedObject
    /// Where its dynamic section is; nil: it has none, and its data is at its first instruction what it
    /// will be. Else it relocates itself.
    var dynamicSection: UInt64?
}

/// Which of the launch's borders were told.
struct BorderWatch {
    private var told: Set<LaunchBorder> = []
    private var hasToldGate = false

    /// The next one that was reached and not told yet; a static program is never relocated.
    mutating func next(of area: Area) -> (border: LaunchBorder, moment: Area.Moment)? {
        guard told.count < LaunchBorder.allCases.count else { return nil }
        for border in LaunchBorder.allCases where !told.contains(border) {
            guard let moment = area.border(border) else { continue }
            told.insert(border)
            return (border, moment)
        }
        return nil
    }

    /// For how long a thread has waited for us to be ready, once that is over and was not told.
    mutating func gate(of area: Area) -> (start: MonotonicTime, end: MonotonicTime)? {
        guard !hasToldGate, let start = area.time(\.gate_ns), let end = area.time(\.gate_end_ns)
        else { return nil }
        hasToldGate = true
        return (start, end)
    }
}

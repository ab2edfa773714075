package import ProfileModel

/// A contiguous, named part of the launch. The phases of a profile tile the launch: each starts
/// where the one before ends, and their wall times add up to the launch's exactly.
package struct Phase: Hashable, Sendable {
    package enum Group: String, Sendable {
        case beforeMain = "before-main"
        case afterMain = "after-main"
    }

    package var name: String
    /// The name of the phase that this is a part of, as what sees no stacks tells it; nil: it is no part.
    package var whole: String?
    package var group: Group
    /// Since the launch's start.
    package var start: TimeSpan
    /// How much earlier or later than ``start`` it may have begun, if its start was seen between
    /// two samples. Zero: the border was marked.
    package var startPrecision: TimeSpan = .zero
    package var wall: TimeSpan
    /// How long the profiler kept every thread from running in it; no part of ``wall``.
    package var held: TimeSpan = .zero
    /// Time on a core, of all threads of all processes.
    package var cpu: TimeSpan = .zero
    /// What the main thread did in the phase.
    package var mainThread: StateTimes = .zero
    /// Faults and bytes read in the phase; nil where they were not readable at a border.
    package var counters: ProcessCounters

    package var end: TimeSpan { start + wall }

    /// What it is called where launches with and without stacks are put side by side.
    package var wholeName: String { whole ?? name }

    /// Whether the process waited for pages in this phase and bytes came from storage for it. A
    /// major fault alone is no proof: the page may have been on its way already, or in swap that
    /// lies in memory. Unknown figures are no proof, either.
    package var isCold: Bool {
        (counters.majorFaults ?? 0) > 0 && (counters.readBytes ?? 0) > 0
    }

    /// The names of those that every launch is divided into.
    package enum Names {
        package static let creation = "Process creation"
        package static let linking = "Dynamic linking"
        package static let initialisers = "Static initialisers"
        package static let main = "Main"
        package static let extended = "Extended"
        /// In place of several of those before *Main*, whose borders were not seen.
        package static let beforeMain = "Before main"
        /// In place of all that follow a border, where those borders were not seen.
        package static let undivided = "Not divided"
        package static let attached = "Attached"
        /// The parts of ``main`` where the program is run by an interpreter.
        package static let interpreter = "Interpreter start-up"
        package static let imports = "Imports"
        package static let program = "Program"
    }
}

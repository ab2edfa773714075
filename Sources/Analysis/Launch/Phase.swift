package import ProfileModel

/// A contiguous, named part of the launch. The phases of a profile tile the launch: each starts
/// where the one before ends, and their wall times add up to the launch's exactly.
package struct Phase: Hashable, Sendable {
    package enum Group: String, Sendable {
        case beforeMain = "before-main"
        case afterMain = "after-main"
    }

    package var name: String
    /// The name of the undivided phase that this is a part of, as in a measurement without stacks;
    /// nil: it is no part.
    package var whole: String?
    package var group: Group
    /// Since the launch's start.
    package var start: TimeSpan
    /// How much earlier or later than ``start`` it may have begun, if its start lies between two
    /// samples. Zero: the border was marked.
    package var startPrecision: TimeSpan = .zero
    package var wall: TimeSpan
    /// The time for which the profiler stopped every thread in it; no part of ``wall``.
    package var held: TimeSpan = .zero
    /// Time on a core, of all threads of all processes.
    package var cpu: TimeSpan = .zero
    /// The main thread's times in the phase.
    package var mainThread: StateTimes = .zero
    /// Faults and bytes read in the phase; nil where they could not be read at a border.
    package var counters: ProcessCounters

    package var end: TimeSpan { start + wall }

    /// The name that allows a comparison of launches with and without stacks.
    package var wholeName: String { whole ?? name }

    /// Whether the process waited for pages in this phase and bytes came from storage for it. A
    /// major fault alone is no proof: the page may have been on its way already, or in swap that is
    /// in memory. Unknown figures are no proof, either.
    package var isCold: Bool {
        (counters.majorFaults ?? 0) > 0 && (counters.readBytes ?? 0) > 0
    }

    /// The names of the phases that every launch is divided into.
    package enum Names {
        package static let creation = "Process creation"
        package static let linking = "Dynamic linking"
        package static let initialisers = "Static initialisers"
        package static let main = "Main"
        package static let extended = "Extended"
        /// Replaces several phases before *Main* whose borders were not seen.
        package static let beforeMain = "Before main"
        /// Replaces all phases after a border if their borders were not seen.
        package static let undivided = "Not divided"
        package static let attached = "Attached"
        /// The parts of ``main`` if an interpreter runs the program.
        package static let interpreter = "Interpreter start-up"
        package static let imports = "Imports"
        package static let program = "Program"
    }
}

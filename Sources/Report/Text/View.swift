/// The question that a text report answers.
package enum View: String, Sendable, CaseIterable {
    /// The findings, the phases, and the heaviest path and wait: forty lines at most.
    case summary
    /// The phases, with the heaviest stack and the heaviest wait of each; and all findings.
    case full
    /// The facts that a reader must know about the recording before trusting the figures.
    case notes
    /// The heaviest stack, and the functions by their own time.
    case heaviest
    /// Callers above callees.
    case tree
    /// Functions by their own time, their callers below.
    case bottomUp = "bottom-up"
    /// The processes of the launch, each below the one that started it.
    case processes
    case threads
    case modules
    /// Loaded libraries, their cost, and the file or function that requested them.
    case libraries
    /// The initialisers, heaviest first, with the call trees of the heaviest ones.
    case initializers
    /// What an interpreter imported, each below its importer.
    case imports
    /// The program's signposts, and marks.
    case intervals
    /// What threads waited for, in the order of time.
    case events
    /// What each thread did over time.
    case timeline
    /// The chain of running and waiting that decided how long the launch took.
    case criticalPath = "critical-path"
    /// What made the launch longer than necessary, most at stake first.
    case findings
}

package import Analysis
package import ProfileModel

/// Which question a text report answers.
package enum View: String, Sendable, CaseIterable {
    /// Phases, and per phase the heaviest stack and the heaviest wait.
    case summary
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
    /// What was loaded, at what cost, for whom.
    case libraries
    /// Heaviest first, each with what it did.
    case initializers
    /// What an interpreter imported, below what imported it.
    case imports
    /// The program's signposts, and marks.
    case intervals
    /// What threads waited for, in the order of time.
    case events
    /// What each thread did over time.
    case timeline
    /// The chain of running and waiting that decided how long the launch took.
    case criticalPath = "critical-path"
    /// What made the launch longer than it needs to be, most at stake first.
    case findings
}

/// How a text report looks, and what part of the recording it is about.
package struct TextOptions: Sendable {
    package var selection = Selection.all
    /// nil: by CPU, and in the summary also the waits.
    package var weight: Weight?
    /// Functions below this share of what is shown are left out; nil: each view's own measure.
    package var minPercent: Double?
    /// How many levels of a tree, or lines of a list, to show at most; nil for all.
    package var depth: Int?
    /// Shorter waits are no events; in the critical path, what took less is put together with what
    /// is beside it. nil: each view's own measure.
    package var minDuration: TimeSpan?
    /// Columns of the terminal; taken as at least ``minimumWidth``.
    package var width = 100
    package var usesColour = false
    /// The distribution's packages that modules' files are of, by path, as far as known.
    package var debugPackages: [String: String] = [:]

    package init() {}

    package static let minimumWidth = 60

    var columns: Int { max(width, Self.minimumWidth) }
    var treeWeight: Weight { weight ?? .cpu }
}

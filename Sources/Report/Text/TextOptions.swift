package import Analysis
package import ProfileModel

/// The question that a text report answers.
package enum View: String, Sendable, CaseIterable {
    /// Phases, with the heaviest stack and the heaviest wait of each.
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
    /// Loaded libraries, their cost, and who requested them.
    case libraries
    /// Heaviest first, each with what it did.
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

/// The appearance of a text report, and the part of the recording that it covers.
package struct TextOptions: Sendable {
    package var selection = Selection.all
    /// nil: by CPU, and in the summary also the waits.
    package var weight: Weight?
    /// Functions below this share of the whole are left out; nil: each view's own limit.
    package var minPercent: Double?
    /// How many levels of a tree, or lines of a list, to show at most; nil: all.
    package var depth: Int?
    /// Shorter waits are no events; in the critical path, shorter parts are merged with their
    /// neighbours. nil: each view's own limit.
    package var minDuration: TimeSpan?
    /// The terminal's columns; at least ``minimumWidth`` are assumed.
    package var width = 100
    package var usesColour = false
    /// The distribution's packages of modules' files, by path, as far as known.
    package var debugPackages: [String: String] = [:]

    package init() {}

    package static let minimumWidth = 60

    var columns: Int { max(width, Self.minimumWidth) }
    var treeWeight: Weight { weight ?? .cpu }
}

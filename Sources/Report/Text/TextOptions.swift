package import Analysis
package import ProfileModel

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
    /// The recording's file as an argument of a command; nil: it is the file that commands read by
    /// default.
    package var file: String?
    /// The distribution's packages of modules' files, by path, as far as known.
    package var debugPackages: [String: String] = [:]

    package init() {}

    package static let minimumWidth = 60

    var columns: Int { max(width, Self.minimumWidth) }
    var treeWeight: Weight { weight ?? .cpu }
}

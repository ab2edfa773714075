package import ProfileModel

/// The costs of one program's launches, added up by a store of many machines' launches.
package struct StoredTop: Hashable, Sendable {
    package var program: String
    package var versions: [Version] = []
    package var things: [Thing] = []
    /// Launches that a signal or another exit status than 0 ended.
    package var failed = 0
    /// The number of different conditions that ended launches. The next fields count the different
    /// ways in which stacks were taken, and the different commands that started launches.
    package var ends = 0
    package var captures = 0
    package var commands = 0

    package init(program: String) { self.program = program }

    /// Launches of one build.
    package struct Version: Hashable, Sendable {
        package var buildID: [UInt8]
        package var launches: Int
        package var sum: TimeSpan
        /// The squares of the walls' distances from their mean, added up, in square nanoseconds.
        package var squares: Double
        package var first: TopLaunch
        package var last: TopLaunch

        package init(
            buildID: [UInt8], launches: Int, sum: TimeSpan, squares: Double, first: TopLaunch,
            last: TopLaunch
        ) {
            (self.buildID, self.launches, self.sum) = (buildID, launches, sum)
            (self.squares, self.first, self.last) = (squares, first, last)
        }
    }

    package struct Thing: Hashable, Sendable {
        package var thing: CostlyThing
        /// The object of waits; nil: several objects.
        package var detail: String?
        /// At most one per version.
        package var tallies: [Tally] = []

        package init(_ thing: CostlyThing, detail: String?) {
            (self.thing, self.detail) = (thing, detail)
        }
    }

    /// The cost of a thing in the launches of a version that show it.
    package struct Tally: Hashable, Sendable {
        /// A position in ``versions``.
        package var version: Int
        package var seen: Int
        package var unknown: Int
        package var unused: Int
        package var sum: TopCost
        /// Like ``Version/squares``, over the launches for which its cost is known.
        package var ownSquares: Double
        package var totalSquares: Double

        package init(
            version: Int, seen: Int, unknown: Int, unused: Int, sum: TopCost, ownSquares: Double,
            totalSquares: Double
        ) {
            (self.version, self.seen, self.unknown) = (version, seen, unknown)
            (self.unused, self.sum) = (unused, sum)
            (self.ownSquares, self.totalSquares) = (ownSquares, totalSquares)
        }
    }
}

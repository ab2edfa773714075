package import ProfileModel

/// What the launches of one program cost, as a store of many machines' launches has added it up.
package struct StoredTop: Hashable, Sendable {
    package var program: String
    package var versions: [Version] = []
    package var things: [Thing] = []
    /// Launches that a signal or another exit status than 0 ended.
    package var failed = 0
    /// The number of different conditions that ended launches. The next fields count the ways in
    /// which stacks were taken, and the commands that started launches.
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
        /// What waits were for; nil: several things.
        package var detail: String?
        /// At most one a version.
        package var tallies: [Tally] = []

        package init(_ thing: CostlyThing, detail: String?) {
            (self.thing, self.detail) = (thing, detail)
        }
    }

    /// What a thing cost in the launches of a version in which it was seen.
    package struct Tally: Hashable, Sendable {
        /// Which of ``versions``.
        package var version: Int
        package var seen: Int
        package var unknown: Int
        package var unused: Int
        package var sum: TopCost
        /// As of ``Version/squares``, of those launches of which it is known what it cost.
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

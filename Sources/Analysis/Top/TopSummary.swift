package import ProfileModel

/// The things that cost most across many launches.
///
/// Pure and deterministic: the same recordings in the same order give the same answers.
package struct TopSummary: Sendable {
    /// The programs with the most launches first.
    package var programs: [TopProgram]
    /// nil: all of the launch.
    package var phase: String?
    /// Resolved entries that no launch shows.
    package var unseen: [ResolvedEntry]

    /// - Parameter resolvedNow: entries that count as resolved from now on.
    package init(_ sums: TopSums, resolvedNow: [ResolvedEntry] = []) throws(TopError) {
        phase = try sums.phaseName()
        var quantiles = StudentQuantiles()
        programs = sums.programs.map { TopProgram($0, resolvedNow, &quantiles) }
            .sorted { ($1.launches, $0.name) < ($0.launches, $1.name) }
        let seen = Set(programs.flatMap { $0.resolved.map(\.entry.thing) })
        unseen = sums.unseen.filter { !seen.contains($0.thing) }
    }
}

/// The things that cost most in the launches of one program.
package struct TopProgram: Sendable {
    package var name: String
    package var launches: Int
    /// The wall of a launch, or of the phase in it.
    package var wall: MeanTime
    /// The sum over all launches.
    package var wallSum: TimeSpan
    /// In the order of their first recordings.
    package var versions: [TopVersion]
    /// For each kind the heaviest first; functions by their own wall time.
    package var things: [TopKind: [TopThing]]
    /// The resolved things: those that are back first, the heaviest of them before the others.
    package var resolved: [ResolvedState]
    package var remarks: TopRemarks
}

/// Facts about launches that the reader must know before trusting their mean.
package struct TopRemarks: Hashable, Sendable {
    /// Launches that a signal or another exit status than 0 ended.
    package var failed: Int
    /// Whether launches ended by different conditions (`--until`).
    package var differInEnds: Bool
    /// Whether stacks were taken in different ways.
    package var differInCapture: Bool
    /// Whether the program's arguments differed.
    package var differInArguments: Bool
}

/// Launches of one build of a program.
package struct TopVersion: Hashable, Sendable {
    /// Empty: not known.
    package var buildID: [UInt8]
    package var launches: Int
    package var wall: MeanTime
    /// The oldest and the newest recording.
    package var first: TopLaunch
    package var last: TopLaunch
}

/// A function, a wait, an initialiser, a library or a process of many launches.
package struct TopThing: Sendable {
    package var kind: TopKind
    /// The function; for a wait, the function to show; for a library its file, for a process its
    /// program.
    package var function: Function
    /// The place in the source; nil: not known.
    package var file: String?
    package var line: Int32?
    /// Only for a wait.
    package var reason: WaitReason?
    /// Only for a wait; nil: the main thread.
    package var thread: String?
    package var figures: TopFigures
    /// In the order of ``TopProgram/versions``.
    package var byVersion: [TopFigures]
    /// nil: it is not resolved.
    package var resolved: ResolvedState.Status?
}

extension TopThing {
    /// Its identity for a list of resolved things.
    package var thing: ResolvedEntry.Thing {
        ResolvedEntry.Thing(
            kind, function.name, module: kind.isNamedAlone ? nil : function.module,
            reason: reason?.kind)
    }
}

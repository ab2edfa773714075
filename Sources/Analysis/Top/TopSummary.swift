package import ProfileModel

/// What costs most across many launches.
///
/// Pure and deterministic: the same recordings in the same order give the same answers.
package struct TopSummary: Sendable {
    /// Those with the most launches first.
    package var programs: [TopProgram]
    /// nil: all of the launch.
    package var phase: String?
    /// What was dealt with, and was seen in no launch at all.
    package var unseen: [ResolvedEntry]

    /// - Parameter resolvedNow: what counts as dealt with from now on.
    package init(_ sums: TopSums, resolvedNow: [ResolvedEntry] = []) throws(TopError) {
        phase = try sums.phaseName()
        var quantiles = StudentQuantiles()
        programs = sums.programs.map { TopProgram($0, resolvedNow, &quantiles) }
            .sorted { ($1.launches, $0.name) < ($0.launches, $1.name) }
        let seen = Set(programs.flatMap { $0.resolved.map(\.entry.thing) })
        unseen = sums.unseen.filter { !seen.contains($0.thing) }
    }
}

/// What costs most in the launches of one program.
package struct TopProgram: Sendable {
    package var name: String
    package var launches: Int
    /// Of a launch, or of the phase in it.
    package var wall: MeanTime
    /// Over all launches.
    package var wallSum: TimeSpan
    /// In the order of their first recordings.
    package var versions: [TopVersion]
    /// Of each kind the heaviest first: functions by their own wall time.
    package var things: [TopKind: [TopThing]]
    /// What was dealt with: what is back first, the heaviest of it before the others.
    package var resolved: [ResolvedState]
    package var remarks: TopRemarks
}

/// What must be known of launches before their mean is believed.
package struct TopRemarks: Hashable, Sendable {
    /// Launches that a signal or another exit status than 0 ended.
    package var failed: Int
    /// Whether some ended by something else than others (`--until`).
    package var differInEnds: Bool
    /// Whether stacks were not taken in the same way in all.
    package var differInCapture: Bool
    /// Whether the program's arguments were not always the same.
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
    /// The function; for a wait, the function to look at; for a library its file, for a process its
    /// program.
    package var function: Function
    /// Where in the source; nil: not known.
    package var file: String?
    package var line: Int32?
    /// Of a wait.
    package var reason: WaitReason?
    /// Of a wait: nil: the main thread.
    package var thread: String?
    package var figures: TopFigures
    /// As ``TopProgram/versions``.
    package var byVersion: [TopFigures]
    /// nil: nobody dealt with it.
    package var resolved: ResolvedState.Status?
}

extension TopThing {
    /// What it is, for a list of what was dealt with.
    package var thing: ResolvedEntry.Thing {
        ResolvedEntry.Thing(
            kind, function.name, module: kind.isNamedAlone ? nil : function.module,
            reason: reason?.kind)
    }
}

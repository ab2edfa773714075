package import ProfileModel

/// The waits of one kind at one place in the code, on both sides.
package struct ComparedWait: Hashable, Sendable {
    /// Waits are the same if these properties are equal.
    package struct Identity: Hashable, Sendable {
        /// The phase in which they began; nil: none.
        package var phase: String?
        /// nil: the main thread.
        package var thread: String?
        /// Without addresses, lengths and threads' ids, which differ each time.
        package var reason: WaitReason
        /// The function to look at, of ``ProfileComparison/functions``; nil: not known.
        package var function: FunctionID?
    }

    package var identity: Identity
    /// In all launches of the side.
    package var counts: Compared<Int64>
    /// Of several launches, the means.
    package var durations: Compared<TimeSpan>
    /// The duration in each launch.
    package var walls: LaunchWalls
}

extension ComparedWait {
    /// The largest change first.
    static func all(_ launches: Compared<[Profile]>, _ stacks: MergedStacks) -> [ComparedWait] {
        var found: [(identity: Identity, counts: Compared<Int64>, sums: LaunchSums)] = []
        var known: [Identity: Int] = [:]
        for side in Side.allCases {
            for launch in launches[side].indices {
                for wait in launches[side][launch].waits {
                    let identity = Identity(wait, of: launch, in: launches, side, stacks)
                    let position = known[identity] ?? found.count
                    if position == found.count {
                        known[identity] = position
                        found.append((identity, .zero, LaunchSums(launches)))
                    }
                    found[position].counts[side] &+= 1
                    found[position].sums.add(wait.duration, to: launch, side)
                }
            }
        }
        let result = found.map {
            ComparedWait(
                identity: $0.identity, counts: $0.counts, durations: $0.sums.means,
                walls: $0.sums.walls)
        }
        return result.sortedByChange(\.durations)
    }
}

extension ComparedWait.Identity {
    fileprivate init(
        _ wait: WaitFigures, of launch: Int, in launches: Compared<[Profile]>, _ side: Side,
        _ stacks: MergedStacks
    ) {
        let profile = launches[side][launch]
        phase = wait.phase.map { profile.phases[$0].name }
        let isMain = profile.mainThread.isMain(wait.thread, at: max(.zero, wait.start))
        thread = isMain ? nil : profile.threads[wait.thread].name
        let detail =
            wait.reason.kind == .sleep ? nil : wait.reason.detail?.withoutAddress.withoutTimeout
        reason = WaitReason(wait.reason.kind, detail: detail)
        function = profile.place(in: profile.stack(of: wait)).map {
            stacks.function(of: SeenFrame(launch: launch, frame: $0), in: launches, side)
        }
    }
}

extension String {
    /// `mutex at 0x7f…` → `mutex`: an address on a stack or the heap differs in each launch.
    package var withoutAddress: String {
        guard let start = firstRange(of: " at 0x") else { return self }
        return String(self[..<start.lowerBound])
    }
}

extension Array {
    /// Sorted by how much a time of each element changed, the most first; equals keep their order.
    func sortedByChange(_ times: (Element) -> Compared<TimeSpan>) -> [Element] {
        let changes = map { times($0).difference.magnitude }
        return indices.sorted { (changes[$1], $0) < (changes[$0], $1) }.map { self[$0] }
    }
}

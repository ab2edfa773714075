package import ProfileModel

/// A finding of both sides. Findings are the same if they have the same kind and the same function
/// or library.
package struct ComparedFinding: Hashable, Sendable {
    package enum Status: String, Sendable {
        case new, gone, changed, same
    }

    /// A finding of a side, as in the first launch that has it.
    package struct Seen: Hashable, Sendable {
        package var launch: Int
        package var finding: Finding
        /// In how many launches of the side it was found.
        package var launches: Int
    }

    package var seen: Compared<Seen?>
    /// The time that could be saved; with several launches, the mean.
    package var saving: Compared<TimeSpan>

    /// Changed if the kinds differ, or if the savings differ by at least a tenth of the larger one
    /// and at least the shortest wait that is recorded.
    package var status: Status {
        guard let before = seen.before else { return .new }
        guard let after = seen.after else { return .gone }
        let largest = max(saving.before, saving.after).nanoseconds
        let least = max(Wait.shortest.magnitude, (largest / 10).magnitude)
        let isChanged =
            before.finding.kind != after.finding.kind || saving.difference.magnitude >= least
        return isChanged ? .changed : .same
    }
}

extension ComparedFinding {
    private enum Subject: Hashable {
        case place(Finding.Kind, FunctionID)
        case library(Finding.Kind, String)
    }
    private struct Identity: Hashable {
        var subject: Subject
        /// Several findings about one subject are matched in their order.
        var place: Int
    }

    /// The largest change first.
    static func all(
        _ launches: Compared<[Profile]>, _ stacks: MergedStacks
    ) -> [ComparedFinding] {
        var result: [ComparedFinding] = []
        var known: [Identity: Int] = [:]
        for side in Side.allCases {
            for (launch, profile) in launches[side].enumerated() {
                var places: [Subject: Int] = [:]
                for finding in profile.findings() {
                    let subject = subject(of: finding, in: launch, launches, side, stacks)
                    let identity = Identity(subject: subject, place: places[subject, default: 0])
                    places[subject, default: 0] += 1
                    let position = known[identity] ?? result.count
                    if position == result.count {
                        known[identity] = position
                        result.append(
                            ComparedFinding(
                                seen: Compared(before: nil, after: nil), saving: .zero))
                    }
                    result[position].add(finding, of: launch, side)
                }
            }
            for position in result.indices {
                let sum = result[position].saving[side]
                result[position].saving[side] = sum.mean(of: launches[side].count)
            }
        }
        return result.sortedByChange(\.saving)
    }

    private mutating func add(_ finding: Finding, of launch: Int, _ side: Side) {
        var found = seen[side] ?? Seen(launch: launch, finding: finding, launches: 0)
        found.launches += 1
        seen[side] = found
        saving[side] = saving[side] + finding.saving
    }

    private static func subject(
        of finding: Finding, in launch: Int, _ launches: Compared<[Profile]>, _ side: Side,
        _ stacks: MergedStacks
    ) -> Subject {
        switch finding.subject {
        case .unusedLibrary(let name, _), .debugLibrary(let name):
            return .library(finding.kind, String(Module(path: name).name))
        case .unusedImport(let evidence): return .library(finding.kind, evidence.module)
        default:
            // A wait for a thread may become a priority inversion, and the other way round.
            let isOfThread = [.lockWait, .priorityInversion].contains(finding.kind)
            let place = stacks.function(
                of: SeenFrame(launch: launch, frame: finding.place), in: launches, side)
            return .place(isOfThread ? .threadWait : finding.kind, place)
        }
    }
}

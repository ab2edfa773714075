package import ProfileModel

/// A finding of two launches: the same if it is of one kind and in one function, or about one
/// library.
package struct ComparedFinding: Hashable, Sendable {
    package enum Status: String, Sendable {
        case new, gone, changed, same
    }

    package var findings: Compared<Finding?>

    package var saving: Compared<TimeSpan> { findings.map { $0?.saving ?? .zero } }

    /// A tenth of what is at stake, and no less than a wait that is recorded, is a change.
    package var status: Status {
        guard let before = findings.before else { return .new }
        guard let after = findings.after else { return .gone }
        let largest = max(before.saving, after.saving).nanoseconds
        let least = max(Wait.shortest.magnitude, (largest / 10).magnitude)
        let isChanged = before.kind != after.kind || saving.difference.magnitude >= least
        return isChanged ? .changed : .same
    }
}

extension ComparedFinding {
    private enum Identity: Hashable {
        case place(Finding.Kind, FunctionID)
        case library(Finding.Kind, String)
    }

    /// The largest change first.
    static func all(_ profiles: Compared<Profile>, _ stacks: MergedStacks) -> [ComparedFinding] {
        var result: [ComparedFinding] = []
        var known: [Identity: [Int]] = [:]
        for finding in profiles.before.findings() {
            let identity = identity(of: finding, profiles.before, .before, stacks)
            known[identity, default: []].append(result.count)
            result.append(ComparedFinding(findings: Compared(before: finding, after: nil)))
        }
        for finding in profiles.after.findings() {
            let identity = identity(of: finding, profiles.after, .after, stacks)
            // Several of one place are the same in their order.
            if let position = known[identity]?.first {
                known[identity]?.removeFirst()
                result[position].findings.after = finding
            } else {
                result.append(ComparedFinding(findings: Compared(before: nil, after: finding)))
            }
        }
        return result.sortedByChange(\.saving)
    }

    private static func identity(
        of finding: Finding, _ profile: Profile, _ side: Side, _ stacks: MergedStacks
    ) -> Identity {
        switch finding.subject {
        case .unusedLibrary(let name), .debugLibrary(let name):
            return .library(finding.kind, String(Module(path: name).name))
        default:
            // A wait for a thread may become a priority inversion, and the other way round.
            let isOfThread = [.lockWait, .priorityInversion].contains(finding.kind)
            let place = stacks.function(of: finding.place, in: profile, side)
            return .place(isOfThread ? .threadWait : finding.kind, place)
        }
    }
}

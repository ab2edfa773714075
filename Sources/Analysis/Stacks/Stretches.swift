package import ProfileModel

/// A frame called from another: the stacks of a profile as a tree, in one list.
package struct StackNode: Hashable, Sendable {
    /// The caller's position in the list, always before this one's; nil for an outermost frame.
    package var parent: Int?
    package var frame: FrameID
}

/// A stretch of one thread with one stack: a slice's share of one phase.
package struct Stretch: Sendable {
    /// Positions in the profile's lists.
    package var phase: Int
    package var thread: Int
    /// Since the launch's start.
    package var start: TimeSpan
    package var times: StateTimes
    /// Its innermost frame, in ``Profile/stackNodes``.
    package var stack: Int
    /// The stack with the wait called from it; nil when it never blocked.
    package var waitStack: Int?
}

extension Stretch {
    package var end: TimeSpan { start + times.wall }

    /// The part of its time that counts by a weight, and for which stack: none, one or two charges.
    package func charges(by weight: Weight) -> [(stack: Int, time: TimeSpan)] {
        let waited = weight.showsWaits && waitStack != nil ? times.blocked : .zero
        var result: [(stack: Int, time: TimeSpan)] = []
        let rest = weight.of(times) - waited
        if rest > .zero { result.append((stack, rest)) }
        if let waitStack, waited > .zero { result.append((waitStack, waited)) }
        return result
    }
}

extension Profile {
    /// All stacks as one tree; callers before callees.
    package var stackNodes: [StackNode] {
        paths.lines.map { line in
            StackNode(
                parent: line.parent == PathTable.none ? nil : Int(line.parent),
                frame: paths.sites[Int(line.site)].frame)
        }
    }

    /// The innermost frame in which a thread waited, in ``stackNodes``; nil: not known.
    package func stackNode(of wait: WaitFigures) -> Int? {
        wait.line == PathTable.none ? nil : Int(wait.line)
    }

    /// The frames of a position in ``stackNodes``, outermost first.
    package func frames(ofStack stack: Int) -> [FrameID] {
        self.stack(ofLine: Int32(truncatingIfNeeded: stack))
    }

    /// All stretches of threads in a selection, in the order of time.
    package func stretches(in selection: Selection) -> [Stretch] {
        var result: [Stretch] = []
        forEachPart(in: selection) { part in
            result.append(
                Stretch(
                    phase: Int(part.phase), thread: Int(part.thread), start: part.start,
                    times: part.times, stack: Int(part.line),
                    waitStack: part.waitLine == PathTable.none ? nil : Int(part.waitLine)))
        }
        return result.enumerated().sorted {
            ($0.element.start, $0.offset) < ($1.element.start, $1.offset)
        }.map(\.element)
    }
}

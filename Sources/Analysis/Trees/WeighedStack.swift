package import ProfileModel

/// A stack with the time that was spent in its innermost frame.
package struct WeighedStack: Sendable {
    /// nil when phases are not distinguished.
    package var phase: Int?
    /// nil when threads are not distinguished.
    package var thread: Int?
    /// Outermost first; never empty.
    package var frames: [FrameID]
    package var weight: TimeSpan
}

extension Profile {
    /// All stacks of a selection, merged by function; those without any of `weight` are left out.
    ///
    /// - Parameters:
    ///   - byPhase: whether the same stack in two phases counts as two.
    ///   - byThread: the same for threads.
    /// - Returns: in an order that depends on the recording only.
    package func weighedStacks(
        _ selection: Selection = .all, weight: Weight, byPhase: Bool = true, byThread: Bool = true
    ) -> [WeighedStack] {
        var sums: [StackKey: TimeSpan] = [:]
        forEachPart(in: selection) { part in
            let phase = byPhase ? part.phase : PathTable.none
            let thread = byThread ? part.thread : PathTable.none
            func add(_ time: TimeSpan, to line: Int32) {
                guard time > .zero else { return }
                let key = StackKey(phase: phase, thread: thread, path: paths.path(ofLine: line))
                sums[key, default: .zero] = sums[key, default: .zero] + time
            }
            let waits = weight.showsWaits && part.waitLine != PathTable.none
            let waited = waits ? part.times.blocked : .zero
            add(weight.of(part.times) - waited, to: part.line)
            if waits { add(waited, to: part.waitLine) }
        }
        let hottest = PathTotals(of: self, in: selection, weight: weight).hottest
        return sums.sorted { $0.key < $1.key }.map { key, time in
            WeighedStack(
                phase: byPhase ? Int(key.phase) : nil, thread: byThread ? Int(key.thread) : nil,
                frames: stack(ofPath: key.path, hottest), weight: time)
        }
    }

    private func stack(ofPath path: Int32, _ hottest: [FrameID]) -> [FrameID] {
        var result: [FrameID] = []
        var current = path
        while current != PathTable.none {
            result.append(hottest[Int(current)])
            current = paths.paths[Int(current)].parent
        }
        result.reverse()
        return result
    }
}

private struct StackKey: Hashable, Comparable {
    var phase: Int32
    var thread: Int32
    var path: Int32

    static func < (left: StackKey, right: StackKey) -> Bool {
        (left.phase, left.thread, left.path) < (right.phase, right.thread, right.path)
    }
}

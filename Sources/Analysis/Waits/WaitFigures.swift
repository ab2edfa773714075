package import ProfileModel

/// One stretch of a thread's being blocked.
package struct WaitFigures: Hashable, Sendable {
    /// In the profile's list.
    package var thread: Int
    /// Since the launch's start.
    package var start: TimeSpan
    package var duration: TimeSpan
    /// With as much detail as symbols and the stack add to what was recorded.
    package var reason: WaitReason
    /// The phase in which it began, in the profile's list; nil: none, it began behind the launch.
    package var phase: Int?
    /// Who ended it. nil: nobody in particular (time, a device), it never ended, or this is not
    /// known.
    package var endedBy: Waker?
    /// The line of the profile's ``PathTable`` that it waited in.
    var line: Int32

    package var end: TimeSpan { start + duration }
}

/// Who made a blocked thread go on.
package struct Waker: Hashable, Sendable {
    package var tid: Int32
    /// nil: not known.
    package var name: String?
}

extension Profile {
    /// The stack of a wait, outermost first, as far as it is known.
    package func stack(of wait: WaitFigures) -> [FrameID] { stack(ofLine: wait.line) }

    /// Outermost first.
    func stack(ofLine line: Int32) -> [FrameID] {
        var frames: [FrameID] = []
        var line = line
        while line != PathTable.none {
            let entry = paths.lines[Int(line)]
            frames.append(paths.sites[Int(entry.site)].frame)
            line = entry.parent
        }
        return frames.reversed()
    }

    /// The waits of a selection that lasted for `shortest` at least, in the order of their starts.
    package func waits(in selection: Selection, shortest: TimeSpan) -> [WaitFigures] {
        waits.filter { wait in
            wait.duration >= shortest
                && includes(selection, from: wait.start, to: wait.end, thread: wait.thread)
        }
    }
}

package import ProfileModel

/// One stretch for which a thread was blocked.
package struct WaitFigures: Hashable, Sendable {
    /// In the profile's list.
    package var thread: Int
    /// Since the launch's start.
    package var start: TimeSpan
    package var duration: TimeSpan
    /// The recorded reason, with the details that symbols and the stack add.
    package var reason: WaitReason
    /// The phase in which it began, in the profile's list; nil: it began after the launch.
    package var phase: Int?
    /// The thread that ended it. nil: no thread did (time, a device), it never ended, or this is
    /// not known.
    package var endedBy: Waker?
    /// The line of the profile's ``PathTable`` in which it waited.
    var line: Int32

    package var end: TimeSpan { start + duration }
}

/// The thread that ended another thread's wait.
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

    /// The waits of a selection that lasted at least `shortest`, in the order of their starts.
    package func waits(in selection: Selection, shortest: TimeSpan) -> [WaitFigures] {
        waits.filter { wait in
            wait.duration >= shortest
                && includes(selection, from: wait.start, to: wait.end, thread: wait.thread)
        }
    }
}

import ProfileModel
import Runtimes

/// An interpreter's list of a thread's frames, and when it was read.
struct Look {
    var copy: RuntimeCopy
    var time: ClosedRange<MonotonicTime>
    /// The thread's CPU time at that moment.
    var ran: TimeSpan
}

/// The latest looks at a thread that runs, in the order of time.
struct Looks {
    private var latest: [Look] = []

    private static let most = 4
    /// Two looks with more of the thread's CPU time between them say nothing about the time
    /// between. Elapsed time does not matter: on a busy machine neither the thread nor we have a
    /// core.
    private static let longest = TimeSpan.milliseconds(20)

    mutating func add(_ look: Look) {
        let place =
            latest.firstIndex { look.time.lowerBound < $0.time.lowerBound } ?? latest.endIndex
        latest.insert(look, at: place)
        if latest.count > Self.most { latest.removeFirst() }
    }

    /// The frames that the thread may have had at a moment, from the last look that was over then
    /// and the first that began later: see ``RuntimeCopy/steady(_:_:_:)``. If these have nothing in
    /// common, the thread has changed from one list to another (each greenlet has its own). Then
    /// the result is the list that its stack refers to.
    ///
    /// - Parameter stack: the thread's, at that moment.
    func frames(
        at time: MonotonicTime, on stack: StackCopy, _ list: FrameListLayout
    ) -> RuntimeCopy? {
        guard let before = latest.last(where: { $0.time.upperBound <= time }),
            let after = latest.first(where: { time <= $0.time.lowerBound }),
            after.ran - before.ran <= Self.longest
        else { return nil }
        return RuntimeCopy.steady(before.copy, after.copy, list)
            ?? [before, after].first { $0.copy.isKnown(on: stack, list) }?.copy.withoutNewest()
    }
}

extension FrameListReader {
    /// One look at a running thread. Its list is read twice, because the thread continues during
    /// the reading. The list may then show newest frames that are already over, on top of a frame
    /// that did not call them. Such a list does not come twice in a row.
    ///
    /// - Parameter thread: the address of its state.
    /// - Returns: nil: its state cannot be read.
    func look(at thread: UInt64, _ memory: any RuntimeMemory) -> RuntimeCopy? {
        guard let first = readRunning(thread: thread, memory),
            let second = readRunning(thread: thread, memory)
        else { return nil }
        return RuntimeCopy.steady(continuing(first, memory), continuing(second, memory), layout)
            ?? RuntimeCopy(thread: thread, threadID: second.threadID, newest: 0, rest: 0)
    }
}

extension RuntimeCopy {
    /// The frames that a running thread had at both of two looks at it: its oldest frames, as far
    /// as both looks found the same. Most of these frames were there in between, too; but a loop
    /// may have left some and come back. The thread's stack shows more.
    ///
    /// It is not known what the newest of these frames did.
    ///
    /// - Returns: nil: there are none, or one of the looks did not reach the oldest frame.
    static func steady(
        _ before: RuntimeCopy, _ after: RuntimeCopy, _ list: FrameListLayout
    ) -> RuntimeCopy? {
        guard before.thread == after.thread, before.rest == 0, after.rest == 0,
            before.isIdentified(list), after.isIdentified(list)
        else { return nil }
        let (first, second) = (before.addresses.count, after.addresses.count)
        var same = 0
        while same < min(first, second) {
            let (old, new) = (first - 1 - same, second - 1 - same)
            guard before.isFrame(old, after, new, list) else { break }
            same += 1
            // The frame has gone on: what it calls may be another function.
            guard before.hasNotMoved(old, after, new, list) else { break }
        }
        guard same > 0 else { return nil }
        return after.oldest(same, list)
    }

    /// True if this is a whole list and the stack holds the address of one of its frames. The
    /// interpreter's loop keeps that address there while the frame runs, or waits for a call.
    func isKnown(on stack: StackCopy, _ list: FrameListLayout) -> Bool {
        guard rest == 0, !addresses.isEmpty, isIdentified(list) else { return false }
        let frames = Set(addresses)
        return stride(from: 0, to: stack.bytes.count - 7, by: 8).contains { offset in
            stack.bytes.littleEndianWord(at: offset).map(frames.contains) == true
        }
    }

    /// True for the same frame of the same code, called by the same frame.
    private func isFrame(
        _ index: Int, _ other: RuntimeCopy, _ place: Int, _ list: FrameListLayout
    ) -> Bool {
        let size = list.identity.size
        return addresses[index] == other.addresses[place]
            && identities[index * size..<(index + 1) * size]
                == other.identities[place * size..<(place + 1) * size]
            && [list.caller, list.code].allSatisfy {
                word(at: $0, of: index, list) == other.word(at: $0, of: place, list)
            }
    }

    /// True if the frame waits for its call: all of its record but the first local is unchanged.
    private func hasNotMoved(
        _ index: Int, _ other: RuntimeCopy, _ place: Int, _ list: FrameListLayout
    ) -> Bool {
        let size = list.recordSize
        return records[index * size..<(index + 1) * size - 8]
            == other.records[place * size..<(place + 1) * size - 8]
    }

    private func word(at offset: Int, of index: Int, _ list: FrameListLayout) -> UInt64? {
        guard let first = list.record.first, offset >= first.offset else { return nil }
        return records.littleEndianWord(at: index * list.recordSize + offset - first.offset)
    }

    private func oldest(_ count: Int, _ list: FrameListLayout) -> RuntimeCopy {
        var result = withoutNewest()
        result.addresses = addresses.suffix(count)
        result.records = records.suffix(count * list.recordSize)
        result.identities = identities.suffix(count * list.identity.size)
        return result
    }

    func withoutNewest() -> RuntimeCopy {
        var result = self
        result.lacksNewest = true
        // The pointer that led to the newest frame leads elsewhere now.
        result.newest = 0
        return result
    }
}

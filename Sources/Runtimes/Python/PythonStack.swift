package import ProfileModel

/// The Python frames of a thread at one moment.
package struct PythonStack: Hashable, Sendable {
    /// The frames that one native frame of the interpreter's loop runs.
    package struct Activation: Hashable, Sendable {
        /// An address inside that native frame; nil: unknown (3.10 and older, or if the copy is too
        /// short).
        package var place: UInt64?
        /// Newest first. Empty: none has begun.
        package var frames: [Frame]

        package init(place: UInt64?, frames: [Frame]) {
            (self.place, self.frames) = (place, frames)
        }
    }

    /// A call of a function.
    package struct Frame: Hashable, Sendable {
        package var key: PythonCodeKey
        /// The code of ``key``; nil: no longer known, and then the frame is unknown, too.
        package var code: PythonCode?
        /// The offset in its code, in bytes; -1: it has not begun.
        package var instruction: Int32
        /// The line, if the program itself is being traced and the instruction does not tell it;
        /// nil: the instruction tells it.
        package var tracedLine: Int32?
        /// A pointer to the value of (mostly) its first parameter; 0: there is none.
        package var firstLocal: UInt64
        /// A pointer to its module's dictionary.
        package var globals: UInt64
        /// The address of the frame itself; 0: unknown.
        package var address: UInt64

        package init(
            key: PythonCodeKey, code: PythonCode?, instruction: Int32, tracedLine: Int32? = nil,
            firstLocal: UInt64 = 0, globals: UInt64 = 0, address: UInt64 = 0
        ) {
            self.address = address
            (self.key, self.code, self.instruction) = (key, code, instruction)
            (self.tracedLine, self.firstLocal, self.globals) = (tracedLine, firstLocal, globals)
        }

        /// The line in ``PythonCode/file``; nil: unknown.
        package var line: Int32? { tracedLine ?? code?.lines.line(at: instruction) }
    }

    /// Newest first; one for each native frame of the interpreter's loop.
    package var activations: [Activation]
    /// True if frames are missing at the outer end.
    package var isCut: Bool

    package init(activations: [Activation], isCut: Bool) {
        (self.activations, self.isCut) = (activations, isCut)
    }

    /// nil: the copy contradicts itself.
    ///
    /// - Parameters:
    ///   - stack: the thread's native stack at the same moment: in 3.11 it has the activations'
    ///     places.
    ///   - code: gives a frame's code. Frames that have not begun are left out, which depends on
    ///     the code.
    package init?(
        _ copy: RuntimeCopy, _ interpreter: PythonInterpreter, stack: StackCopy,
        code: (PythonCodeKey) -> PythonCode?
    ) {
        let layout = interpreter.layout
        let count = copy.completeCount(layout)
        let identities = copy.identities
        var groups = PythonGroups(interpreter.offsets.frame)
        for index in 0..<count {
            guard let record = copy.record(index, layout), let caller = record.caller,
                caller == (index + 1 < copy.addresses.count ? copy.addresses[index + 1] : copy.rest)
            else { return nil }
            let size = layout.identity.size
            let identity = identities[(index * size)..<(index * size + size)]
            guard groups.append(record, identity, code, interpreter) else { return nil }
        }
        isCut = count < copy.addresses.count || copy.rest != 0
        groups.finish()
        activations = groups.activations
        if case .mark = interpreter.offsets.frame.grouping {
            let places = PythonLoopRecords(
                copy, stack, layout, size: interpreter.offsets.threadRead
            )
            .places(of: groups.newest)
            for (index, place) in places.enumerated() { activations[index].place = place }
        }
    }
}

/// The record that each native frame of 3.11's loop keeps on the native stack (`_PyCFrame`). They
/// form a list, from the newest one outwards, that ends inside the thread's state.
struct PythonLoopRecords {
    private var entries: [(place: UInt64, frame: UInt64)] = []

    /// - Parameter size: the largest size of a thread's state.
    init(_ copy: RuntimeCopy, _ stack: StackCopy, _ layout: FrameListLayout, size: Int) {
        guard let inside = layout.newestInside else { return }
        var place = copy.newest
        // Each is further out than the one before, so this ends.
        while let offset = Self.offset(of: place, in: stack),
            let frame = stack.bytes.word(at: offset + inside),
            let previous = stack.bytes.word(at: offset + inside + 8)
        {
            entries.append((place, frame))
            guard previous > place else { break }
            place = previous
        }
    }

    /// The places of the activations with these newest frames, as far as known. Empty if the lists
    /// contradict each other.
    func places(of newest: [UInt64]) -> [UInt64] {
        let known = zip(entries, newest)
        guard known.allSatisfy({ $0.frame == $1 }) else { return [] }
        return known.map { $0.0.place }
    }

    private static func offset(of place: UInt64, in stack: StackCopy) -> Int? {
        guard place >= stack.start, place & 7 == 0 else { return nil }
        let offset = place - stack.start
        return offset < UInt64(stack.bytes.count) ? Int(offset) : nil
    }
}

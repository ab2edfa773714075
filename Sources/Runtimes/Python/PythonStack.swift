package import ProfileModel

/// The Python frames of a thread at one moment.
package struct PythonStack: Hashable, Sendable {
    /// What one native frame of the interpreter's loop runs.
    package struct Activation: Hashable, Sendable {
        /// An address inside of that native frame; nil: not known (3.10 and older, and where the copy
        /// ends too early).
        package var place: UInt64?
        /// Newest first. Empty: none of them has begun.
        package var frames: [Frame]

        package init(place: UInt64?, frames: [Frame]) {
            (self.place, self.frames) = (place, frames)
        }
    }

    /// A call of a function.
    package struct Frame: Hashable, Sendable {
        package var key: PythonCodeKey
        /// What ``key`` stands for; nil: it is not known any more, and what the frame is of is not
        /// either.
        package var code: PythonCode?
        /// Where it is in its code, in bytes from the code's begin; -1: it has not begun.
        package var instruction: Int32
        /// The line, where the program itself is being traced and the instruction does not tell; nil:
        /// it does.
        package var tracedLine: Int32?
        /// A pointer to the value of its first parameter, mostly; 0: it has none.
        package var firstLocal: UInt64
        /// A pointer to its module's dictionary.
        package var globals: UInt64
        /// Where it lies itself; 0: not known.
        package var address: UInt64

        package init(
            key: PythonCodeKey, code: PythonCode?, instruction: Int32, tracedLine: Int32? = nil,
            firstLocal: UInt64 = 0, globals: UInt64 = 0, address: UInt64 = 0
        ) {
            self.address = address
            (self.key, self.code, self.instruction) = (key, code, instruction)
            (self.tracedLine, self.firstLocal, self.globals) = (tracedLine, firstLocal, globals)
        }

        /// In ``PythonCode/file``; nil: not known.
        package var line: Int32? { tracedLine ?? code?.lines.line(at: instruction) }
    }

    /// Newest first; one for each native frame of the interpreter's loop.
    package var activations: [Activation]
    /// Whether frames are missing at the outer end.
    package var isCut: Bool

    package init(activations: [Activation], isCut: Bool) {
        (self.activations, self.isCut) = (activations, isCut)
    }

    /// nil: the copy contradicts itself.
    ///
    /// - Parameters:
    ///   - stack: the thread's native stack of the same moment: 3.11 has the places of activations
    ///     there.
    ///   - code: names a frame's code. Frames that have not begun are left out, which depends on it.
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

/// Where an interpreter keeps a thread's frames of its language. They form a list: the thread's
/// state leads to the newest frame, and each frame leads to its caller's frame. All distances are
/// in bytes.
package struct FrameListLayout: Hashable, Sendable {
    /// A piece of a structure in memory.
    package struct Part: Hashable, Sendable {
        package var offset: Int
        package var size: Int

        package init(_ offset: Int, _ size: Int) { (self.offset, self.size) = (offset, size) }
    }

    /// From a thread's state to the pointer to its newest frame.
    package var newest: Int
    /// nil: that pointer leads to the newest frame itself. Otherwise it leads to a structure that
    /// has the pointer to the newest frame at this offset.
    package var newestInside: Int?
    /// From a thread's state to its id, 8 bytes: the kernel's id, or that of its thread library.
    /// nil: it has none.
    package var threadID: Int?
    /// From a frame to the pointer to its caller's frame.
    package var caller: Int
    /// From a frame to the pointer to its code.
    package var code: Int
    /// The bits of that pointer that form the address.
    package var codeMask: UInt64
    /// The parts of each frame that are copied, one after another: one or two parts.
    package var record: [Part]
    /// The part of each frame's code that is copied: two codes at one address with the same
    /// identity are the same code.
    package var identity: Part
    /// From a thread's state to two pointers that enclose most of its frames; nil: the frames may
    /// be anywhere.
    package var arena: (start: Int, top: Int)? {
        get { arenaStart.flatMap { start in arenaTop.map { (start, $0) } } }
        set { (arenaStart, arenaTop) = (newValue?.start, newValue?.top) }
    }
    private var arenaStart: Int?
    private var arenaTop: Int?

    package init(
        newest: Int, newestInside: Int? = nil, threadID: Int?, caller: Int, code: Int,
        codeMask: UInt64 = .max, record: [Part], identity: Part
    ) {
        (self.newest, self.newestInside, self.threadID) = (newest, newestInside, threadID)
        (self.caller, self.code, self.codeMask) = (caller, code, codeMask)
        (self.record, self.identity) = (record, identity)
    }

    /// The size of a frame's record in bytes.
    package var recordSize: Int { record.reduce(0) { $0 + $1.size } }
}

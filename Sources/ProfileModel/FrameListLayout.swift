/// Where an interpreter keeps the frames that a thread has in its language: a list that leads from
/// the thread's state to the newest frame, and from each frame to its caller's. All distances are
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
    /// From a frame to the pointer to its caller's.
    package var caller: Int
    /// From a frame to the pointer to its code.
    package var code: Int
    /// The bits of that pointer that are an address.
    package var codeMask: UInt64
    /// What is copied of each frame, one part after another: one or two parts.
    package var record: [Part]
    /// What is copied of each frame's code: two codes at one address with the same identity are the
    /// same code.
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

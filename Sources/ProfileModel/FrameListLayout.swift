/// Where an interpreter keeps which frames of its language a thread has: a list that leads from the
/// thread's state to the newest frame, and from each frame to its caller's. All distances are in bytes.
package struct FrameListLayout: Hashable, Sendable {
    /// Some bytes of something that lies in memory.
    package struct Part: Hashable, Sendable {
        package var offset: Int
        package var size: Int

        package init(_ offset: Int, _ size: Int) { (self.offset, self.size) = (offset, size) }
    }

    /// From a thread's state to the pointer to its newest frame.
    package var newest: Int
    /// nil: it is one. Else it leads to something in which, so far from its beginning, the pointer to
    /// the newest frame is.
    package var newestInside: Int?
    /// From a thread's state to its id, of 8 bytes: the kernel's, or that of its thread library. nil: it has
    /// none.
    package var threadID: Int?
    /// From a frame to the pointer to its caller's.
    package var caller: Int
    /// From a frame to the pointer to its code.
    package var code: Int
    /// Which bits of that pointer are an address.
    package var codeMask: UInt64
    /// What is copied of each frame, one part behind the other: one or two.
    package var record: [Part]
    /// What is copied of each frame's code: two codes that have it alike at one address are the same.
    package var identity: Part
    /// From a thread's state to two pointers, between which most of its frames lie; nil: they lie
    /// anywhere.
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

    /// Of a frame, in bytes.
    package var recordSize: Int { record.reduce(0) { $0 + $1.size } }
}

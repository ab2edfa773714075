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

/// What an interpreter's list of a thread's frames was at one moment, as ``FrameListLayout`` says.
/// Hostile: it comes from the profiled program's memory.
package struct RuntimeCopy: Hashable, Sendable {
    /// Where the thread's state lies.
    package var thread: UInt64
    /// What the state had as the thread's id; nil: it has none.
    package var threadID: UInt64?
    /// What the state had as pointer to the newest frame, or to what leads to it.
    package var newest: UInt64
    /// Where the frames lie, newest first.
    package var addresses: [UInt64]
    /// Their records, ``FrameListLayout/recordSize`` bytes each.
    package var records: [UInt8]
    /// Their codes' identities, of as many frames as could be had, newest first.
    package var identities: [UInt8]
    /// Where the next frame would be; 0: there is none.
    package var rest: UInt64
    /// Whether there were newer ones, which could not be had, and where in its code the first of these
    /// was is not known.
    package var lacksNewest = false

    package init(
        thread: UInt64, threadID: UInt64?, newest: UInt64, addresses: [UInt64] = [],
        records: [UInt8] = [], identities: [UInt8] = [], rest: UInt64 = 0
    ) {
        (self.thread, self.threadID, self.newest) = (thread, threadID, newest)
        (self.addresses, self.records, self.identities) = (addresses, records, identities)
        self.rest = rest
    }

    /// The size of all that was copied, in bytes.
    package var byteCount: Int { 8 * addresses.count + records.count + identities.count }
}

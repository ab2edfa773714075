/// A copy of an interpreter's list of a thread's frames at one moment, by a ``FrameListLayout``.
/// Not trusted: it comes from the profiled program's memory.
package struct RuntimeCopy: Hashable, Sendable {
    /// The address of the thread's state.
    package var thread: UInt64
    /// The thread's id in the state; nil: the state has none.
    package var threadID: UInt64?
    /// The state's pointer to the newest frame, or to the structure that leads to it.
    package var newest: UInt64
    /// The addresses of the frames, newest first.
    package var addresses: [UInt64]
    /// Their records, ``FrameListLayout/recordSize`` bytes each.
    package var records: [UInt8]
    /// The identities of the frames' codes, as many as could be read, newest first.
    package var identities: [UInt8]
    /// The address of the next frame; 0: there is none.
    package var rest: UInt64
    /// True if newer frames are missing, and the position of the first copied frame in its code is
    /// unknown.
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

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

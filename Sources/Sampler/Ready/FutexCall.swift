import ProfileModel

/// The arguments of a futex(2) call that waits.
struct FutexCall: Hashable {
    private var address: UInt64
    /// FUTEX_WAIT and the like, without flags.
    private var operation: UInt64
    private var isPrivate: Bool
    /// What the word must be for the caller to wait.
    private var value: UInt32

    /// nil when that is another call (futex is 202).
    init?(_ systemCall: Int32, _ registers: Registers) {
        guard systemCall == 202, let address = registers[5], let operation = registers[4],
            let value = registers[1]
        else { return nil }
        self.address = address
        self.operation = operation & 0x7f
        isPrivate = operation & 0x80 != 0
        self.value = UInt32(truncatingIfNeeded: value)
    }

    private static let (wait, lock, waitBitset, lock2): (UInt64, UInt64, UInt64, UInt64) =
        (0, 6, 9, 13)
    /// The bits of a priority-inheritance mutex's word that are its owner's id (FUTEX_TID_MASK).
    private static let ownerMask: Int32 = 0x3fff_ffff

    /// What it waits for. glibc's data decide (nptl/pthread_mutex_lock.c, pthread_join_common.c):
    ///
    /// - a mutex's word is 2 while others wait for it, and its owner stands 8 bytes behind;
    /// - that of a mutex with priority inheritance holds the owner's id itself;
    /// - whoever waits for a thread's end waits, not privately, for its id to become 0.
    ///
    /// - Parameters:
    ///   - tids: the process's threads: no other can own anything.
    ///   - read: a word of the process's memory; nil where there is none.
    func wait(tids: Set<Int32>, read: (UInt64) -> Int32?) -> FutexWait {
        switch operation {
        case Self.wait, Self.waitBitset:
            let tid = Int32(bitPattern: value)
            if !isPrivate, tids.contains(tid), read(address) == tid { return .end(of: tid) }
            if value == 2, read(address) == 2, let owner = read(address &+ 8),
                tids.contains(owner)
            {
                return .mutex(address, owner: owner)
            }
        case Self.lock, Self.lock2:
            if let word = read(address), tids.contains(word & Self.ownerMask) {
                return .mutex(address, owner: word & Self.ownerMask)
            }
        default: break
        }
        return .other(address)
    }
}

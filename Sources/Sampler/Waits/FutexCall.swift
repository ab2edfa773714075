import Architecture
import ProfileModel

/// The arguments of a futex(2) call that waits.
struct FutexCall: Hashable {
    private var address: UInt64
    /// FUTEX_WAIT and the like, without flags.
    private var operation: UInt64
    private var isPrivate: Bool
    private var isByRealTime: Bool
    /// The call waits only if the word has this value.
    private var value: UInt32
    /// Of a `timespec`; nil: the call waits for ever.
    private var limit: UInt64?

    /// The address of the call's time-out, and its meaning.
    struct Timeout {
        var address: UInt64
        /// True: a point in time; false: a length.
        var isAbsolute: Bool
        var isByRealTime: Bool
    }

    /// nil: the call waits for ever, or it is not known for how long.
    var timeout: Timeout? {
        limit.map { limit in
            Timeout(
                address: limit, isAbsolute: operation != Self.wait,
                isByRealTime: operation == Self.lock || isByRealTime)
        }
    }

    /// nil if it is another call.
    init?(_ systemCall: Int32, _ registers: Registers) {
        guard SystemCall(rawValue: systemCall) == .futex, let address = registers.argument(0),
            let operation = registers.argument(1), let value = registers.argument(2)
        else { return nil }
        self.address = address
        self.operation = operation & 0x7f
        isPrivate = operation & 0x80 != 0
        isByRealTime = operation & 0x100 != 0
        self.value = UInt32(truncatingIfNeeded: value)
        limit = registers.argument(3).flatMap { $0 == 0 ? nil : $0 }
    }

    private static let (wait, lock, waitBitset, lock2): (UInt64, UInt64, UInt64, UInt64) =
        (0, 6, 9, 13)
    /// The bits of a priority-inheritance mutex's word that are its owner's id (FUTEX_TID_MASK).
    private static let ownerMask: Int32 = 0x3fff_ffff
    /// A larger count of waiters is not believed.
    private static let mostWaiters: Int32 = 1 << 22

    /// What the call waits for. The data of glibc decide (nptl/pthread_mutex_lock.c,
    /// pthread_join_common.c, pthread_rwlock_common.c, pthread_cond_wait.c, sem_waitcommon.c):
    ///
    /// - a mutex's word is 2 while others wait for it, and its owner is 8 bytes behind the word;
    /// - the word of a mutex with priority inheritance holds the owner's id itself;
    /// - to join a thread, a futex call that is not private waits for the thread's id to become 0;
    /// - in a read-write lock, the words to wait for are 3, and the writing thread is 24 bytes
    ///   behind the lock's start;
    /// - condition variables and semaphores count their waiters.
    ///
    /// - Parameters:
    ///   - thread: our id of the thread that the process knows by an id; nil: it has no such
    ///     thread, and no other can own anything.
    ///   - read: reads a word of the process's memory; nil if there is none.
    func wait(thread: (Int32) -> Int32?, read: (UInt64) -> Int32?) -> FutexWait {
        switch operation {
        case Self.wait, Self.waitBitset:
            let id = Int32(bitPattern: value)
            if !isPrivate, id > 0, read(address) == id, let tid = thread(id) {
                return .end(of: tid)
            }
            if value == 2, read(address) == 2, let id = read(address &+ 8), id > 0,
                let owner = thread(id)
            {
                return .mutex(address, owner: owner)
            }
            return readWriteLock(thread, read) ?? condition(read) ?? semaphore(read)
                ?? .other(address)
        case Self.lock, Self.lock2:
            if let word = read(address), let owner = thread(word & Self.ownerMask) {
                return .mutex(address, owner: owner)
            }
        default: break
        }
        return .other(address)
    }

    private func readWriteLock(
        _ thread: (Int32) -> Int32?, _ read: (UInt64) -> Int32?
    ) -> FutexWait? {
        guard value == 3, read(address) == 3 else { return nil }
        // Readers wait for the word at offset 8, writers for the one at 12.
        let start = address &- (address % 8 == 0 ? 8 : 12)
        guard let id = read(start &+ 24), id > 0, let owner = thread(id) else { return nil }
        return .readWriteLock(start, owner: owner)
    }

    /// The words to wait for are at offsets 40 and 44, the count of waiters at 36. How many waiters
    /// refer to which word is at 16 and 20.
    private func condition(_ read: (UInt64) -> Int32?) -> FutexWait? {
        guard operation == Self.waitBitset else { return nil }
        let start = address &- (address % 8 == 0 ? 40 : 44)
        guard let waiters = read(start &+ 36), let references = read(address &- 24),
            1...Self.mostWaiters ~= waiters >> 3, 1...(waiters >> 3) ~= references >> 1
        else { return nil }
        return .condition(start)
    }

    /// The semaphore's value is 0. Behind it are the number of waiters, and whether it is private.
    private func semaphore(_ read: (UInt64) -> Int32?) -> FutexWait? {
        guard operation == Self.waitBitset, isByRealTime, value == 0, address % 8 == 0,
            read(address) == 0, let waiters = read(address &+ 4),
            1...Self.mostWaiters ~= waiters, read(address &+ 8) == (isPrivate ? 0 : 0x80)
        else { return nil }
        return .semaphore(address)
    }
}

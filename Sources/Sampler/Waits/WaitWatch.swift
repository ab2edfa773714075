import Architecture
import ProcessIO
import ProfileModel

/// A wait of a thread that is not over yet, and the facts known about its reason.
struct OpenWait {
    let start: MonotonicTime
    let systemCall: Int32
    /// At least the call's arguments.
    let registers: Registers
    /// True if the thread could not be interrupted (state D): known of page faults and forks.
    let isUninterruptible: Bool
    /// When the thread was last found in this wait.
    var lastSeen: MonotonicTime
    /// nil: not looked into yet.
    fileprivate(set) var reason: WaitReason?
    /// The wait's time limit; nil: it has none, or that is not known.
    fileprivate(set) var timeout: WaitTimeout?
    /// When to look into it (again); nil: the reason will not change.
    fileprivate var due: MonotonicTime?

    init(
        start: MonotonicTime, seen: MonotonicTime, systemCall: Int32, registers: Registers,
        isUninterruptible: Bool
    ) {
        self.start = start
        self.systemCall = systemCall
        self.registers = registers
        self.isUninterruptible = isUninterruptible
        lastSeen = seen
        due = start + Wait.shortest
    }

    fileprivate var call: WaitingCall { WaitingCall(systemCall, registers) }
}

/// Finds out what threads wait for: only in waits that are worth recording, and with at most a
/// hundredth of a core. A thread that blocks a thousand times a second costs nothing here.
struct WaitWatch {
    private let process: any ProcessAccess
    private var budget: LookBudget
    private var recorded = 0
    /// Waits that exceeded the limit.
    private(set) var lost: Int64 = 0

    /// How many waits are recorded at most: a hundred bytes each.
    private static let most = 200_000
    /// How many bytes of a detail are kept.
    private static let longestDetail = 256

    init(of process: any ProcessAccess) {
        self.process = process
        budget = LookBudget(at: process.now)
    }

    /// The thread was found in its wait once more.
    mutating func follow(_ wait: inout OpenWait, of tid: Int32, at now: MonotonicTime) {
        wait.lastSeen = now
        guard let due = wait.due, now >= due, budget.allows(at: now) else { return }
        inspect(&wait, tid)
        // Locks change hands, and children execute other programs.
        let changes = wait.reason?.kind == .lock || wait.reason?.kind == .child
        wait.due = changes ? now + (now - wait.start) : nil
    }

    private mutating func inspect(_ wait: inout OpenWait, _ tid: Int32) {
        let surroundings = process.surroundings(
            of: tid, isUninterruptible: wait.isUninterruptible)
        let call = wait.call
        let limit = WaitLimit(wait.systemCall, wait.registers)
        let (found, timeout) = budget.pay(for: {
            let inspection = WaitInspection(surroundings: surroundings)
            return (inspection.reason(for: call), inspection.timeout(of: call, limit: limit))
        })
        wait.timeout = wait.timeout ?? timeout
        wait.reason = wait.reason.map { found.replacing($0) } ?? found
    }

    /// The wait is over.
    ///
    /// - Returns: the wait to be recorded; nil: none.
    mutating func end(
        _ wait: OpenWait, of thread: ThreadIndex, tid: Int32, at end: MonotonicTime
    ) -> Wait? {
        guard end - wait.start >= Wait.shortest else { return nil }
        guard recorded < Self.most else {
            lost += 1
            return nil
        }
        recorded += 1
        var wait = wait
        // If a thread waited for a child to execute its program, the child has done so now. (If
        // there are several children, the one that is left now is not the one whose end the thread
        // waited for.)
        if wait.reason?.kind == .child, wait.reason?.owner != nil, wait.reason?.detail == nil,
            budget.allows(at: end)
        {
            inspect(&wait, tid)
        }
        var reason =
            wait.reason
            ?? WaitInspection(
                surroundings: UnknownSurroundings(
                    isUninterruptible: wait.isUninterruptible,
                    names: { [process] in process.innerNames })
            ).reason(for: wait.call)
        if let timeout = wait.timeout, timeout.hasEnded(wait.start, end) {
            reason = reason.timedOut(after: timeout.words(from: wait.start))
        }
        reason.detail = reason.detail.map(Self.bounded)
        return Wait(
            thread: thread, start: wait.start, end: end, reason: reason,
            systemCall: wait.systemCall)
    }

    /// Keeps the end of a path, but the beginning of everything else.
    static func bounded(_ detail: String) -> String {
        guard detail.utf8.count > longestDetail else { return detail }
        // The ellipsis takes three bytes.
        let room = longestDetail - 3
        let bytes = Array(detail.utf8)
        guard detail.hasPrefix("/") else {
            return String(decoding: bytes.prefix(room).dropPartialCharacter, as: UTF8.self) + "…"
        }
        let end = bytes.suffix(room).drop { $0 & 0xC0 == 0x80 }
        return "…" + String(decoding: end, as: UTF8.self)
    }
}

extension ArraySlice<UInt8> {
    /// Without an incomplete UTF-8 character at its end.
    fileprivate var dropPartialCharacter: ArraySlice<UInt8> {
        guard let start = lastIndex(where: { $0 & 0xC0 != 0x80 }), self[start] >= 0xC0 else {
            return self
        }
        let length = self[start] >= 0xF0 ? 4 : self[start] >= 0xE0 ? 3 : 2
        return endIndex - start < length ? self[..<start] : self
    }
}

extension WaitReason {
    /// The reason of a wait after another look. A look that fell between two states does not erase
    /// a reason that was known before.
    func replacing(_ older: WaitReason) -> WaitReason {
        guard kind == older.kind, owner != nil || older.owner == nil else { return older }
        var result = self
        if detail == nil, owner == older.owner { result.detail = older.detail }
        return result
    }
}

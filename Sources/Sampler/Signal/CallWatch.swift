import ProfileModel

/// Whether a thread computes, or works within system calls, as far as that is known.
///
/// Some calls return a part of what was asked for once a signal or a stop is pending: reads of
/// `/dev/zero` and `/dev/urandom`, getrandom(2), sendfile(2), large writes to pipes. No program
/// counts on that where it never happens without us. So a thread gets neither before it was seen
/// computing for a while, by the kernel's events, which no call notices; and no more, once one was
/// seen to have met a call.
struct CallWatch: Hashable, Sendable {
    private var streak = 0

    /// So many looks in a row that found it in its own code.
    static let enough = 16

    var isComputing: Bool { streak >= Self.enough }

    mutating func sawCode() { streak = min(streak + 1, Self.enough) }
    mutating func sawCall() { streak = 0 }

    /// A signal's handler tells where the thread was.
    mutating func saw(_ registers: Registers) {
        // The instruction for system calls leaves behind it, in rcx, where it returns to.
        if registers[2] == registers.programCounter { sawCall() } else { sawCode() }
    }
}

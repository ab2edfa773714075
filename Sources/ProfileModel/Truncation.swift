/// Why a stack does not reach its thread's entry function. The raw values are stored in
/// recordings: only ever add to them.
package enum Truncation: UInt8, Sendable, CaseIterable {
    /// The stack continues beyond the copied part.
    case stackLimit = 1
    /// A rule needed a register whose value is unknown (a blocked thread that was not stopped).
    case unknownRegister = 2
    /// The return address is in no executable mapping.
    case unmappedCode = 3
    /// The address has neither an unwind rule nor a valid frame record.
    case noRule = 4
    /// The next frame would not be further out than this one.
    case noProgress = 5
    /// More frames than the unwinder's limit.
    case frameLimit = 6
    /// Not captured: the recorder was behind and dropped the stack; the time is kept.
    case lost = 7
    /// Not captured: the thread's memory or registers could not be read (it was exiting).
    case unreadable = 8
    /// Not captured: a sample of the running thread could have ended one of its system calls early.
    case notSampled = 9
    /// A uretprobe has replaced a return address, and the stack does not reveal the original one.
    case uretprobe = 10

    /// For readers: "12 truncated (stack limit)".
    package var label: String {
        switch self {
        case .stackLimit: "stack limit"
        case .unknownRegister: "unknown register"
        case .unmappedCode: "unmapped code"
        case .noRule: "no unwind information"
        case .noProgress: "no progress"
        case .frameLimit: "frame limit"
        case .lost: "lost"
        case .unreadable: "unreadable"
        case .notSampled: "not sampled"
        case .uretprobe: "uretprobe active"
        }
    }
}

/// Position in a recording's list of threads.
package struct ThreadIndex: Hashable, Sendable, Comparable {
    /// Small, since there are millions of them.
    private let number: Int32
    package var rawValue: Int { Int(number) }
    /// A number too large for any list stays too large.
    package init(_ rawValue: Int) { number = Int32(clamping: rawValue) }
    package static func < (left: ThreadIndex, right: ThreadIndex) -> Bool {
        left.rawValue < right.rawValue
    }
}

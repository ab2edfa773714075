import ProfileModel

/// Who speaks, and what of. Texts that were too long end in "…".
struct SignpostLabel: Hashable, Sendable {
    var name: String
    var category: String
    /// Empty where the program names none.
    var subsystem: String
}

/// What the program said, as it said it.
struct SignpostEvent: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case event
        case begin
        case end
    }

    /// Which beginning and end belong together.
    enum Identity: Hashable, Sendable {
        /// Given to each beginning; 0 at the end of one that was not recorded.
        case given(UInt64)
        /// The program's choice: belongs together with the same label only.
        case chosen(UInt64)
    }

    var kind: Kind
    var identity: Identity
    var label: SignpostLabel
    /// The thread's id, as the program knows it.
    var thread: Int32
    var time: MonotonicTime
}

import ProfileModel

/// What an event is called. Texts that were too long end in "…".
struct SignpostLabel: Hashable, Sendable {
    var name: String
    var category: String
    /// Empty if the program names none.
    var subsystem: String
}

/// One event, as the program wrote it.
struct SignpostEvent: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case event
        case begin
        case end
    }

    /// Tells which beginning and end belong together.
    enum Identity: Hashable, Sendable {
        /// We give one to each beginning; 0 for an end whose beginning was not recorded.
        case given(UInt64)
        /// The program has chosen it: it pairs only events with the same label.
        case chosen(UInt64)
    }

    var kind: Kind
    var identity: Identity
    var label: SignpostLabel
    /// The thread's id, as the program knows it.
    var thread: Int32
    var time: MonotonicTime
}

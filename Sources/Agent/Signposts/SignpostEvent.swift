package import ProfileModel

/// The names of an event. Texts that were too long end in "…".
package struct SignpostLabel: Hashable, Sendable {
    package var name: String
    package var category: String
    /// Empty if the program names none.
    package var subsystem: String
}

/// One event, as the program wrote it.
package struct SignpostEvent: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case event
        case begin
        case end
    }

    /// Identifies the beginning and the end that belong together.
    package enum Identity: Hashable, Sendable {
        /// We give one to each beginning; 0 for an end whose beginning was not recorded.
        case given(UInt64)
        /// The program has chosen it: it pairs only events with the same label.
        case chosen(UInt64)
    }

    package var kind: Kind
    package var identity: Identity
    package var label: SignpostLabel
    /// The thread's id, as the program knows it.
    package var thread: Int32
    package var time: MonotonicTime
}

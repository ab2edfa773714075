internal import CSignpost

/// Says where a program's time goes, to whoever records it: `firstlight record`.
///
/// The calls are those of Apple's `OSSignposter`, so that code carries over. While nobody records, a
/// call costs a few nanoseconds and makes no system call; it may be made from any thread.
///
/// The category `launch` makes its intervals phases of the launch, `extended` phases behind it; all
/// others are points of interest.
///
/// ```swift
/// let signposter = Signposter(subsystem: "org.example.Stars", category: "launch")
///
/// let loading = signposter.beginInterval("Load stars")
/// …
/// signposter.endInterval("Load stars", loading)
/// ```
public struct Signposter: Sendable {
    /// nil: speaks to nobody.
    private let labels: Labels?

    /// - Parameters:
    ///   - subsystem: whose signposts these are, as a rule a reversed domain name.
    ///   - category: what they are about.
    ///
    /// Of both, the first 40 bytes are kept.
    public init(subsystem: String, category: String) {
        labels = Labels.of(subsystem: subsystem, category: category)
    }

    private init() { labels = nil }

    /// One whose calls do nothing.
    public static let disabled = Signposter()

    /// Whether somebody records at the moment.
    public var isEnabled: Bool { labels != nil && firstlight_is_enabled() != 0 }

    /// An identifier that no other one of this process is equal to.
    public func makeSignpostID() -> SignpostID { .makeUnique() }

    /// Marks this moment.
    ///
    /// - Parameter name: its first 128 bytes are kept.
    public func emitEvent(_ name: StaticString, id: SignpostID = .exclusive) {
        guard let labels, firstlight_is_enabled() != 0 else { return }
        _ = labels.record(name, FIRSTLIGHT_SIGNPOST_EVENT, id: id)
    }

    /// Begins an interval. Intervals may nest and overlap, on one thread or several.
    ///
    /// - Returns: what ``endInterval(_:_:)`` needs, on whichever thread. Several of the same name
    ///   are told apart by it; an `id` is needed only where it cannot be passed on.
    public func beginInterval(
        _ name: StaticString, id: SignpostID = .exclusive
    ) -> SignpostIntervalState {
        guard let labels, firstlight_is_enabled() != 0 else {
            return SignpostIntervalState(id: id, recorded: 0)
        }
        let recorded = labels.record(name, FIRSTLIGHT_SIGNPOST_BEGIN, id: id)
        return SignpostIntervalState(id: id, recorded: recorded)
    }

    /// Ends what ``beginInterval(_:id:)`` began.
    public func endInterval(_ name: StaticString, _ state: SignpostIntervalState) {
        guard let labels, firstlight_is_enabled() != 0 else { return }
        _ = labels.record(
            name, FIRSTLIGHT_SIGNPOST_END, id: state.signpostID, recorded: state.recorded)
    }

    /// Calls `task` within an interval, which also ends when it throws.
    public func withIntervalSignpost<Result>(
        _ name: StaticString, id: SignpostID = .exclusive, around task: () throws -> Result
    ) rethrows -> Result {
        let state = beginInterval(name, id: id)
        defer { endInterval(name, state) }
        return try task()
    }
}

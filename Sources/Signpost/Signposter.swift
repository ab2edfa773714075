internal import CSignpost

/// Tells a recorder (`firstlight record`) where the program's time goes.
///
/// The calls are those of Apple's `OSSignposter`, so that code can be moved. Without a recorder, a
/// call costs a few nanoseconds and makes no system call. Any thread may call.
///
/// Intervals of the category `launch` become phases of the launch, those of `extended` phases after
/// it; all others are points of interest.
///
/// ```swift
/// let signposter = Signposter(subsystem: "org.example.Stars", category: "launch")
///
/// let loading = signposter.beginInterval("Load stars")
/// …
/// signposter.endInterval("Load stars", loading)
/// ```
public struct Signposter: Sendable {
    /// nil: nothing is recorded.
    private let labels: Labels?

    /// - Parameters:
    ///   - subsystem: the source of these signposts, usually a reversed domain name.
    ///   - category: their subject.
    ///
    /// The first 40 bytes of each are kept.
    public init(subsystem: String, category: String) {
        labels = Labels.of(subsystem: subsystem, category: category)
    }

    private init() { labels = nil }

    /// A signposter whose calls do nothing.
    public static let disabled = Signposter()

    /// True if a recorder is recording now.
    public var isEnabled: Bool { labels != nil && firstlight_is_enabled() != 0 }

    /// An identifier that is unique in this process.
    public func makeSignpostID() -> SignpostID { .makeUnique() }

    /// Marks the present moment.
    ///
    /// - Parameter name: its first 128 bytes are kept.
    public func emitEvent(_ name: StaticString, id: SignpostID = .exclusive) {
        guard let labels, firstlight_is_enabled() != 0 else { return }
        _ = labels.record(name, FIRSTLIGHT_SIGNPOST_EVENT, id: id)
    }

    /// Begins an interval. Intervals may nest and overlap, on one thread or several.
    ///
    /// - Returns: the state for ``endInterval(_:_:)``, which any thread may call. It distinguishes
    ///   several intervals with the same name; an `id` is needed only if the state cannot be passed
    ///   on.
    public func beginInterval(
        _ name: StaticString, id: SignpostID = .exclusive
    ) -> SignpostIntervalState {
        guard let labels, firstlight_is_enabled() != 0 else {
            return SignpostIntervalState(id: id, recorded: 0)
        }
        let recorded = labels.record(name, FIRSTLIGHT_SIGNPOST_BEGIN, id: id)
        return SignpostIntervalState(id: id, recorded: recorded)
    }

    /// Ends the interval that ``beginInterval(_:id:)`` began.
    public func endInterval(_ name: StaticString, _ state: SignpostIntervalState) {
        guard let labels, firstlight_is_enabled() != 0 else { return }
        _ = labels.record(
            name, FIRSTLIGHT_SIGNPOST_END, id: state.signpostID, recorded: state.recorded)
    }

    /// Calls `task` within an interval, which also ends if `task` throws.
    public func withIntervalSignpost<Result>(
        _ name: StaticString, id: SignpostID = .exclusive, around task: () throws -> Result
    ) rethrows -> Result {
        let state = beginInterval(name, id: id)
        defer { endInterval(name, state) }
        return try task()
    }
}

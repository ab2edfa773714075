internal import CSignpost
import Synchronization

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

/// Subsystem and category in C's form.
///
/// A plain pointer: counting references would cost more than everything else in a call. Its target
/// is made once for each pair of texts, and is never freed.
///
/// Unsafe code: texts that end in a zero and never change.
struct Labels: @unchecked Sendable {
    private let signposter: UnsafePointer<firstlight_signposter>

    private struct Key: Hashable {
        var subsystem: String
        var category: String
    }

    private static let known = Mutex<[Key: Labels]>([:])

    static func of(subsystem: String, category: String) -> Labels {
        known.withLock { known in
            let key = Key(subsystem: subsystem, category: category)
            if let labels = known[key] { return labels }
            let labels = Labels(subsystem: subsystem, category: category)
            known[key] = labels
            return labels
        }
    }

    private init(subsystem: String, category: String) {
        let signposter = UnsafeMutablePointer<firstlight_signposter>.allocate(capacity: 1)
        signposter.initialize(
            to: firstlight_signposter(
                subsystem: Self.text(subsystem), category: Self.text(category)))
        self.signposter = UnsafePointer(signposter)
    }

    private static func text(_ text: String) -> UnsafePointer<CChar> {
        let bytes = Array(text.utf8CString)
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        copy.initialize(from: bytes, count: bytes.count)
        return UnsafePointer(copy)
    }

    /// - Parameter recorded: for an end: the identifier that its beginning returned.
    /// - Returns: the recorded identifier; 0: nothing was recorded.
    func record(
        _ name: StaticString, _ kind: Int, id: SignpostID, recorded: UInt64 = 0
    ) -> UInt64 {
        let isOwn = id != .exclusive
        return name.withUTF8Buffer { bytes in
            firstlight_signpost_record(
                signposter, bytes.baseAddress, bytes.count, Int32(truncatingIfNeeded: kind),
                isOwn ? Int32(FIRSTLIGHT_SIGNPOST_OWN_ID) : 0, isOwn ? id.rawValue : recorded)
        }
    }
}

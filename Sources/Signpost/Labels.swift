import CSignpost
import Synchronization

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

import Architecture
import Glibc

/// Why a perf.data file, or the rest of it, cannot be read.
package struct PerfDataError: Error, Hashable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case cannotOpen(errno: Int32)
        case cannotRead(errno: Int32)
        /// A folder that is not perf's, a pipe, a device …
        case notAFile
        case notPerfData
        /// Recorded on a machine with the opposite byte order.
        case foreignByteOrder
        /// perf's format from before 2013.
        case oldFormat
        /// Recorded on another kind of processor, whose registers we do not know.
        case foreignArchitecture(String)
        /// The file ends within a record or section.
        case truncated
        /// The content is impossible; the text gives the reason in a few words.
        case corrupt(String)
    }

    package var path: String
    package var kind: Kind
    /// The offset in the file, in bytes; for compressed data: that of the compressed record.
    package var offset: UInt64

    package init(path: String, kind: Kind, offset: UInt64 = 0) {
        self.path = path
        self.kind = kind
        self.offset = offset
    }

    package var description: String {
        switch kind {
        case .cannotOpen(let errno): "cannot open '\(path)': \(Self.text(errno))"
        case .cannotRead(let errno):
            "cannot read '\(path)' at byte \(offset): \(Self.text(errno))"
        case .notAFile: "'\(path)' is neither a file nor a folder that perf record --threads wrote"
        case .notPerfData: "'\(path)' is not a perf.data file"
        case .foreignByteOrder:
            "'\(path)' was recorded on a machine of the other byte order; it cannot be imported"
        case .oldFormat: "'\(path)' has perf's format from before 2013; it cannot be imported"
        case .foreignArchitecture(let name):
            "'\(path)' was recorded on \(name); only \(Machine.name) can be imported"
        case .truncated: "'\(path)' is cut short at byte \(offset)"
        case .corrupt(let what): "'\(path)' is damaged at byte \(offset): \(what)"
        }
    }

    private static func text(_ errno: Int32) -> String {
        // strerror returns the C library's own text, valid until the next call.
        strerror(errno).map { String(cString: $0) } ?? "error \(errno)"
    }
}

import Glibc

/// A word of a command line. The kernel sees bytes, which need not be UTF-8. A `String` would
/// change such bytes before they reach the program.
package struct CommandWord: Hashable, Sendable {
    /// With the final zero.
    package let cString: [CChar]

    package init(_ text: String) { cString = Array(text.utf8CString) }

    package init(cString start: UnsafePointer<CChar>) {
        cString = Array(UnsafeBufferPointer(start: start, count: strlen(start) + 1))
    }

    /// - Parameter bytes: without the final zero.
    package init(_ bytes: some Sequence<CChar>) { cString = Array(bytes) + [0] }

    package var bytes: ArraySlice<CChar> { cString.dropLast() }

    /// The text to show and record.
    package var text: String {
        String(decoding: bytes.lazy.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

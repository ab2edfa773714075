import Glibc

/// A word of a command line. To the kernel it is bytes, which need not be UTF-8: made a `String`, it
/// would reach the program as another one.
package struct CommandWord: Hashable, Sendable {
    /// With the zero at its end.
    let cString: [CChar]

    package init(_ text: String) { cString = Array(text.utf8CString) }

    package init(cString start: UnsafePointer<CChar>) {
        cString = Array(UnsafeBufferPointer(start: start, count: strlen(start) + 1))
    }

    /// - Parameter bytes: without the zero.
    init(_ bytes: some Sequence<CChar>) { cString = Array(bytes) + [0] }

    var bytes: ArraySlice<CChar> { cString.dropLast() }

    /// As it is shown and recorded.
    package var text: String {
        String(decoding: bytes.lazy.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

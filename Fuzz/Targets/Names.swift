import FuzzSupport
import Symbolicate

/// A symbol's name: readable, within bounds.
func fuzzNames(_ bytes: UnsafeRawBufferPointer) {
    let name = Demangler.readable(String(decoding: bytes, as: UTF8.self))
    precondition(name.utf8.count <= Demangler.longestOutput)
}

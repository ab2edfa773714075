import FuzzSupport
import Symbolicate

/// A symbol's name: readable, within bounds.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: data, count: size)
    let name = Demangler.readable(String(decoding: bytes, as: UTF8.self))
    precondition(name.utf8.count <= Demangler.longestOutput)
    return 0
}

@main enum Main {
    static func main() { run() }
}

/// Readable names by where the mangled ones are in the mapped file: each is demangled once, and
/// asking again does not even hash its text. Belongs to one open module.
final class NameCache {
    private var names: [UInt: String] = [:]

    /// - Parameter bytes: in memory that stays mapped, and unchanged, as long as the cache lives.
    func readable(_ bytes: UnsafeRawBufferPointer) -> String {
        let key = UInt(bitPattern: bytes.baseAddress)
        if let known = names[key] { return known }
        let name = Demangler.readable(String(decoding: bytes, as: UTF8.self))
        names[key] = name
        return name
    }

    /// Text that is not mangled (a path), kept in the same way.
    func text(_ start: UnsafePointer<CChar>) -> String {
        let key = UInt(bitPattern: start)
        if let known = names[key] { return known }
        let text = String(cString: start)
        names[key] = text
        return text
    }
}

internal import CElfutils
internal import Glibc

/// The name by which a user asks for a function: the linker's name, or the written one without
/// parameters.
struct FunctionName {
    private let linkage: [UInt8]
    private let written: String
    /// A part of every mangled name of this function.
    private let word: [UInt8]

    init(_ text: String) {
        linkage = Array(text.utf8)
        written = text
        let words = text.utf8.split { !Self.isPartOfWord($0) }
        // Template arguments and operators may look different in the mangled name.
        let isPlain = text.utf8.allSatisfy { Self.isPartOfWord($0) || $0 == UInt8(ascii: ":") }
        word = isPlain ? words.last.map(Array.init) ?? [] : []
    }

    /// - Parameter symbol: the linkage name.
    func matches(_ symbol: UnsafeRawBufferPointer) -> Bool {
        if symbol.count == linkage.count, symbol.elementsEqual(linkage) { return true }
        guard Self.mayBeMangled(symbol), Self.position(of: word, in: symbol) != nil else {
            return false
        }
        let name = String(decoding: symbol, as: UTF8.self)
        // A copy of only a part of the function (`.cold`, `.part.0`) does not match.
        guard Demangler.splitClones(name).clones.allSatisfy(Self.isWholeCopy),
            let readable = Demangler.demangle(name)
        else { return false }
        return Self.withoutParameters(readable).contains { $0 == written }
    }

    private static func isWholeCopy(_ clone: String) -> Bool {
        !clone.hasPrefix(".cold") && !clone.hasPrefix(".part")
    }

    private static func mayBeMangled(_ symbol: UnsafeRawBufferPointer) -> Bool {
        guard symbol.count > 2 else { return false }
        return symbol[0] == UInt8(ascii: "_") || symbol[0] == UInt8(ascii: "$")
    }

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func position(of part: [UInt8], in whole: UnsafeRawBufferPointer) -> Int? {
        guard let start = whole.baseAddress, !part.isEmpty else { return part.isEmpty ? 0 : nil }
        return memmem(start, whole.count, part, part.count).map { UnsafeRawPointer($0) - start }
    }

    /// `a::b(int) const` → `a::b`; for `int a::b<int>(int)` also without its result.
    static func withoutParameters(_ readable: String) -> [String] {
        let whole = Array(readable.utf8)
        var name = whole[...]
        let clone = whole.withUnsafeBytes { position(of: Array(" [clone ".utf8), in: $0) }
        if let clone { name = name[..<clone] }
        if let parameters = lastOpening(name) { name = name[..<parameters] }
        let result = lastSpaceOutside(name).map { name[($0 + 1)...] }
        return [name, result].compactMap { $0.map { String(decoding: $0, as: UTF8.self) } }
    }

    /// Where the last closed parenthesis begins. The text after those of `operator()` and
    /// `(anonymous namespace)` is not a qualifier.
    private static func lastOpening(_ name: ArraySlice<UInt8>) -> Int? {
        guard let close = name.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let behind = name[(close + 1)...]
        guard behind.allSatisfy({ isPartOfWord($0) || $0 == 0x20 || $0 == UInt8(ascii: "&") })
        else { return nil }
        var depth = 0
        for index in name[...close].indices.reversed() {
            if name[index] == UInt8(ascii: ")") { depth += 1 }
            if name[index] == UInt8(ascii: "(") { depth -= 1 }
            if depth == 0 { return index > name.startIndex ? index : nil }
        }
        return nil
    }

    private static func lastSpaceOutside(_ name: ArraySlice<UInt8>) -> Int? {
        var depth = 0
        for index in name.indices.reversed() {
            switch name[index] {
            case UInt8(ascii: ">"), UInt8(ascii: ")"): depth += 1
            case UInt8(ascii: "<"), UInt8(ascii: "("): depth -= 1
            case UInt8(ascii: " ") where depth == 0: return index
            default: break
            }
        }
        return nil
    }
}

internal import CElfutils
internal import Glibc

/// Readable names for the symbols of C++, Rust, Swift, D, OCaml and Haskell, and of functions that
/// Emacs compiles.
///
/// C++ and Rust go through libiberty's callback interface rather than `__cxa_demangle`. It
/// allocates nothing, accepts names longer than 1,024 characters, and the output can be cut while
/// it is written (a name of 100 characters can stand for one of gigabytes).
package enum Demangler {
    /// Longer mangled names are shown as they are. Demanglers recurse on their input, and
    /// libiberty's needs about 90 bytes of stack for each character.
    package static let longestInput = 8 * 1024
    /// Longer names are cut, in UTF-8 bytes.
    package static let longestOutput = 16 * 1024

    /// The name to show: demangled if it is mangled. Suffixes of GCC's and LLVM's partial and
    /// specialised copies become `name [clone .cold]`. Cut at ``longestOutput``.
    package static func readable(_ name: String) -> String {
        if let plain = demangle(name) { return bounded(plain) }
        let (base, clones) = splitClones(name)
        return bounded(clones.isEmpty ? base : base + describe(clones: clones))
    }

    /// nil if `name` is not a mangled name of a known scheme, or is too long.
    package static func demangle(_ name: String) -> String? {
        guard name.utf8.count <= longestInput else { return nil }
        if name.hasPrefix("_R") { return rust(name) }
        if name.hasPrefix("_Z") {
            if let rust = rustLegacy(name) { return rust }
            return PackSearch.isBounded(name) ? written(name, by: firstlight_demangle_cxx) : nil
        }
        if let keyed = staticInitialisers(name) { return keyed }
        if let lisp = EmacsName(name) { return lisp.function }
        if let caml = OCamlName(name) { return caml.function }
        if name.hasPrefix("_D") { return dlang(name) }
        if let haskell = HaskellName(name) { return haskell.function }
        if swiftPrefixes.contains(where: { name.hasPrefix($0) }) { return swift(name) }
        return nil
    }

    // MARK: - Schemes

    /// `_$s` and `$s` are today's; `$S` and `_T0` are Swift 4's; `$e` is embedded Swift's.
    private static let swiftPrefixes = [
        "$s", "_$s", "$S", "_$S", "$e", "_$e", "_T0", "@__swiftmacro_",
    ]

    /// GCC and clang put a file's static initialisers into one function. GCC names it after the
    /// file's first symbol, clang after the file. We show it as binutils shows the older form of
    /// these names.
    private static func staticInitialisers(_ name: String) -> String? {
        let kinds = [("_GLOBAL__sub_I_", "constructors"), ("_GLOBAL__sub_D_", "destructors")]
        for (prefix, what) in kinds where name.hasPrefix(prefix) {
            let key = String(name.dropFirst(prefix.utf8.count))
            // Not `readable`, which would follow a chain of such prefixes.
            return "global \(what) keyed to \(key.hasPrefix("_Z") ? demangle(key) ?? key : key)"
        }
        return nil
    }

    private static func rust(_ name: String) -> String? {
        let (base, clones) = splitAtFirstDot(name)
        guard let plain = written(base, by: firstlight_demangle_rust) else { return nil }
        return clones.isEmpty ? plain : plain + " [clone \(clones)]"
    }

    /// Before v0, Rust used C++'s scheme with a hash as the last part: `17h`, 16 hexadecimal
    /// digits, `E`. LLVM's suffixes follow; other dots belong to the name.
    private static func rustLegacy(_ name: String) -> String? {
        guard name.hasPrefix("_ZN"), let end = endOfRustHash(name) else { return nil }
        let base = String(name[..<end])
        guard let plain = written(base, by: firstlight_demangle_rust) else { return nil }
        return end == name.endIndex ? plain : plain + " [clone \(name[end...])]"
    }

    private static func endOfRustHash(_ name: String) -> String.Index? {
        let bytes = name.utf8
        var end = bytes.endIndex
        while let dot = bytes[..<end].lastIndex(of: UInt8(ascii: ".")) {
            if hasRustHash(bytes[..<end]) { return end }
            end = dot
        }
        return hasRustHash(bytes[..<end]) ? end : nil
    }

    private static func hasRustHash(_ bytes: Substring.UTF8View) -> Bool {
        guard bytes.last == UInt8(ascii: "E") else { return false }
        let tail = Array(bytes.suffix(20))
        return tail.count == 20 && tail.starts(with: Array("17h".utf8))
            && tail[19] == UInt8(ascii: "E") && tail[3..<19].allSatisfy(isHexadecimal)
    }

    private static func swift(_ name: String) -> String? {
        guard doublings(name) <= 20 else { return nil }
        let (base, clones) = splitAtFirstDot(name)
        let copy = base.withCString { mangled in
            swift_demangle(mangled, base.utf8.count, nil, nil, 0)
        }
        guard let copy else { return nil }
        defer { free(copy) }
        let length = strnlen(copy, longestOutput)
        let bytes = UnsafeBufferPointer(start: copy, count: length)
        let plain = String(decoding: UnsafeRawBufferPointer(bytes), as: UTF8.self)
        return clones.isEmpty ? plain : plain + " [clone \(clones)]"
    }

    /// How often, at most, a Swift name doubles its expansion. It does so when a generic type is
    /// completed (`G`) and then referred to (`A…`) within the next one. The runtime's demangler
    /// cannot be stopped while it writes, and memory runs out before 40 doublings.
    private static func doublings(_ name: String) -> Int {
        var count = 0
        var isComplete = false
        for byte in name.utf8 {
            if byte == UInt8(ascii: "G") {
                isComplete = true
            } else if byte == UInt8(ascii: "A"), isComplete {
                count += 1
                isComplete = false
            }
        }
        return count
    }

    /// libiberty's demangler of D cannot be stopped while it writes. Each reference back (`Q`) may
    /// double a name, and real names have a dozen.
    private static func dlang(_ name: String) -> String? {
        guard name.utf8.count(where: { $0 == UInt8(ascii: "Q") }) <= 24,
            let copy = dlang_demangle(name, 0)
        else { return nil }
        defer { free(copy) }
        let bytes = UnsafeBufferPointer(start: copy, count: strnlen(copy, longestOutput))
        return String(decoding: UnsafeRawBufferPointer(bytes), as: UTF8.self)
    }

    private typealias Writer = (UnsafePointer<CChar>?, UnsafeMutablePointer<CChar>?, Int) -> Int

    private static func written(_ name: String, by write: Writer) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: longestOutput) { output in
            let length = name.withCString { write($0, output.baseAddress, output.count) }
            guard length > 0, length <= output.count else { return nil }
            let bytes = UnsafeRawBufferPointer(output)[..<length]
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    // MARK: - Clones

    /// The suffixes that compilers append to the name of a function's copy. C++'s demangler knows
    /// them itself.
    private static let cloneWords: Set<Substring> = [
        "cold", "part", "constprop", "isra", "lto_priv", "localalias", "llvm", "specialized",
        "resolver", "destroy", "resume", "cleanup",
    ]

    /// `foo.part.0.cold` → `foo`, [`.part.0`, `.cold`]. Other dots stay in the name (Go's and
    /// assembler's names have them).
    static func splitClones(_ name: String) -> (base: String, clones: [String]) {
        guard name.utf8.contains(UInt8(ascii: ".")) else { return (name, []) }
        var parts = name.split(separator: ".", omittingEmptySubsequences: false)
        var clones: [String] = []
        while parts.count > 1, let last = parts.last {
            if cloneWords.contains(last) {
                clones.append(".\(last)")
                parts.removeLast()
            } else if isNumber(last), parts.count > 2, cloneWords.contains(parts[parts.count - 2]) {
                clones.append(".\(parts[parts.count - 2]).\(last)")
                parts.removeLast(2)
            } else {
                break
            }
        }
        let base = parts.joined(separator: ".")
        return base.isEmpty ? (name, []) : (base, clones.reversed())
    }

    static func describe(clones: [String]) -> String {
        clones.map { " [clone \($0)]" }.joined()
    }

    private static func splitAtFirstDot(_ name: String) -> (base: String, clones: Substring) {
        guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")) else { return (name, "") }
        return (String(name[..<dot]), name[dot...])
    }

    private static func isNumber(_ text: Substring) -> Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return !text.isEmpty && text.utf8.allSatisfy { digits.contains($0) }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    /// `name`, cut at ``longestOutput``.
    static func bounded(_ name: String) -> String {
        guard name.utf8.count > longestOutput else { return name }
        var end = name.utf8.index(name.startIndex, offsetBy: longestOutput)
        while end.samePosition(in: name.unicodeScalars) == nil {
            end = name.utf8.index(before: end)
        }
        return String(name[..<end])
    }
}

/// Tells whether libiberty's demangler will finish a C++ name in reasonable time.
///
/// Its output is cut, and this bounds its time, with one exception. For a pack expansion (`Dp`,
/// `sizeof...`, fold expressions) it first searches the whole pattern for the pack, and repeats the
/// search in the text of each substitution (`S_`, `S0_`, …). Each substitution can double the time:
/// a name of 250 characters kept it busy for an hour. Expansions of a mere parameter (`DpT_`,
/// `DpRKT0_`), by far the most frequent, end at once. As for other patterns, no name among LLDB's
/// 267,000 has more than 13 substitutions after the first one.
enum PackSearch {
    static let mostSubstitutions = 14

    static func isBounded(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard let start = firstExpansion(in: bytes) else { return true }
        return substitutions(in: bytes[start...]) <= mostSubstitutions
    }

    /// Where the first expansion begins whose pattern may be more than a parameter. A name may only
    /// look like an expansion (`flush`): then we are merely stricter than needed.
    private static func firstExpansion(in bytes: [UInt8]) -> Int? {
        bytes.indices.dropLast().first { index in
            switch (bytes[index], bytes[index + 1]) {
            case (UInt8(ascii: "D"), UInt8(ascii: "p")), (UInt8(ascii: "s"), UInt8(ascii: "Z")):
                !isParameter(bytes[(index + 2)...])
            case (UInt8(ascii: "f"), let letter):
                foldLetters.contains(letter)
                    && isOperator(bytes[(index + 2)...])
            default: false
            }
        }
    }

    private static let foldLetters = Set("lrLR".utf8)
    private static let qualifiers = Set("KVROP".utf8)

    /// `T_`, `RKT0_`, without arguments of its own; `fp_` for `sizeof...`.
    private static func isParameter(_ pattern: ArraySlice<UInt8>) -> Bool {
        let rest = pattern.drop(while: qualifiers.contains)
        guard rest.first == UInt8(ascii: "T") else { return rest.starts(with: "fp".utf8) }
        let behind = rest.dropFirst().drop(while: isNumber)
        return behind.first == UInt8(ascii: "_") && behind.dropFirst().first != UInt8(ascii: "I")
    }

    /// The two letters of the operators that can be folded.
    private static let operators: Set<[UInt8]> = Set(
        """
        aN aS aa an cm dV ds dv eO eo eq ge gt lS le ls lt mI mL mi ml ne oR oo or pL pl pm rM rS \
        rm rs dt pt ss
        """.split(separator: " ").map { Array($0.utf8) })

    private static func isOperator(_ rest: ArraySlice<UInt8>) -> Bool {
        operators.contains(Array(rest.prefix(2)))
    }

    private static func substitutions(in bytes: ArraySlice<UInt8>) -> Int {
        bytes.indices.count { index in
            guard bytes[index] == UInt8(ascii: "S") else { return false }
            // No name of this length has ids with more digits.
            return bytes[(index + 1)...].prefix(4).drop(while: isNumber).first == UInt8(ascii: "_")
        }
    }

    /// In base 36.
    private static func isNumber(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
}

/// Distinguishes functions of a language's standard library, which compilers put into the
/// developer's own file, from the developer's.
enum StandardLibrary {
    /// - Parameters:
    ///   - name: demangled.
    ///   - file: the file of the function; nil: not known.
    static func contains(_ name: String, file: String?) -> Bool {
        if file?.hasSuffix(".go") == true { return isOfGo(name) }
        // The runtime's functions in Go's assembler have their packages' names, too.
        if file?.hasSuffix(".s") == true { return name.contains(".") && isOfGo(name) }
        // This runs for every function of a large program, so it compares bytes, not characters.
        let bytes = Array(name.utf8)
        let name = bytes[qualifiedStart(bytes)...]
        return namespaces.contains { name.starts(with: $0) }
    }

    /// C++'s, Rust's (for a call of `<Type as Trait>::f`, the type counts) and Swift's.
    private static let namespaces = [
        "std::", "__gnu_cxx::", "core::", "alloc::", "<core::", "<alloc::", "<std::",
        "hashbrown::", "Swift.",
    ].map { Array($0.utf8) }

    /// Precedes the name of a specialisation's original function.
    private static let original = Array("of Swift.".utf8)

    /// The start of the name, after a template's return type or the words before a specialised
    /// function.
    private static func qualifiedStart(_ name: [UInt8]) -> Int {
        var depth = 0
        var start = 0
        for (index, byte) in name.enumerated() {
            switch byte {
            case UInt8(ascii: "<"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ">"), UInt8(ascii: "]"): depth -= 1
            // The rest is the parameters.
            case UInt8(ascii: "(") where depth == 0 && index > start: return start
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            case UInt8(ascii: " ") where depth == 0:
                start = index + 1
                let rest = name[start...]
                if rest.starts(with: original) { return start + 3 }
            default: break
            }
        }
        return start
    }

    /// A package's path ends at the first point after its last slash.
    private static func isOfGo(_ name: String) -> Bool {
        packages.contains(String(name.prefix { $0 != "/" && $0 != "." }))
            // Another host's package of that name has a point before its first slash.
            && !(name.firstIndex(of: "/").map { name[..<$0].contains(".") } ?? false)
    }

    /// The folders of Go's own source (`go list std`).
    private static let packages: Set<String> = [
        "archive", "bufio", "bytes", "cmp", "compress", "container", "context", "crypto",
        "database",
        "debug", "embed", "encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html",
        "image",
        "index", "internal", "io", "iter", "log", "maps", "math", "mime", "net", "os", "path",
        "plugin",
        "reflect", "regexp", "runtime", "slices", "sort", "strconv", "strings", "structs", "sync",
        "syscall", "testing", "text", "time", "unicode", "unique", "unsafe", "vendor", "weak",
    ]
}

/// Tells functions of a language's standard library, which compilers put into the developer's own file, from the
/// developer's.
enum StandardLibrary {
    /// - Parameters:
    ///   - name: demangled.
    ///   - file: where the function is; nil: not known.
    static func contains(_ name: String, file: String?) -> Bool {
        if file?.hasSuffix(".go") == true { return isOfGo(name) }
        let name = qualifiedName(name)
        return namespaces.contains { name.hasPrefix($0) }
    }

    /// C++'s, Rust's (of what is called by `<Type as Trait>::f`, the type counts) and Swift's.
    private static let namespaces = [
        "std::", "__gnu_cxx::", "core::", "alloc::", "<core::", "<alloc::", "<std::", "hashbrown::",
        "Swift.",
    ]

    /// Without what stands before it: a template's return type, or what a specialisation is of.
    private static func qualifiedName(_ name: String) -> Substring {
        if let original = name.firstRange(of: " of Swift.") {
            return name[name.index(original.lowerBound, offsetBy: 4)...]
        }
        var depth = 0
        var start = name.startIndex
        for index in name.indices {
            switch name[index] {
            case "<", "[": depth += 1
            case ">", "]": depth -= 1
            // What follows are parameters.
            case "(" where depth == 0 && index > start: return name[start...]
            case "(": depth += 1
            case ")": depth -= 1
            case " " where depth == 0: start = name.index(after: index)
            default: break
            }
        }
        return name[start...]
    }

    /// A package's path ends at the first point behind its last slash.
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

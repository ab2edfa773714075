package import ProfileModel

/// How much of a function's name is shown.
package enum NameStyle: String, Sendable, CaseIterable {
    /// The linker's name for the function.
    case none
    /// Without parameters, results and template arguments. Functions that differ only in these are
    /// shown as one.
    case simple
    /// As demanglers write the name.
    case full
}

extension SymbolTable {
    /// The same table with all functions' names in a style.
    package func named(_ style: NameStyle) -> SymbolTable {
        guard style != .full else { return self }
        var result = self
        var known: [String: String] = [:]
        for (address, frames) in self.frames {
            result.frames[address] = frames.map { frame in
                // If the linker's name is the same, the name is not mangled, so it has no parts to
                // remove.
                guard let linkage = frame.linkageName, let name = frame.function else {
                    return frame
                }
                var frame = frame
                if style == .none {
                    frame.function = linkage
                } else {
                    let simple = known[name] ?? SimpleName.of(name, linkage: linkage)
                    known[name] = simple
                    frame.function = simple
                }
                return frame
            }
        }
        return result
    }
}

/// Demangled names without their parameters, results and template arguments.
enum SimpleName {
    /// - Parameter linkage: the mangled name, which tells the language.
    static func of(_ name: String, linkage: String) -> String {
        let (base, suffix) = splitSuffix(name)
        let prefixes = ["$s", "_$s", "$S", "_$S", "$e", "_$e", "_T0", "@__swiftmacro_"]
        let isSwift = prefixes.contains { linkage.hasPrefix($0) }
        let simple = isSwift ? swift(base) : cxxOrRust(base)
        // If the rules above leave nothing, keep the whole name.
        return (simple.isEmpty ? String(base) : simple) + suffix
    }

    /// ` [clone .cold]`, `@plt`.
    private static func splitSuffix(_ name: String) -> (Substring, Substring) {
        var end = name.endIndex
        if name.hasSuffix("@plt") { end = name.index(end, offsetBy: -4) }
        if let clone = name.firstRange(of: " [clone ")?.lowerBound { end = min(end, clone) }
        return (name[..<end], name[end...])
    }

    private static func cxxOrRust(_ name: Substring) -> String {
        var text = withoutBrackets(name)
        for ending in [" const", " volatile", " &", " &&", " const"] where text.hasSuffix(ending) {
            text.removeLast(ending.count)
        }
        // Only instances of templates begin with their result.
        guard text.hasSuffix("<…>"), let space = lastSpaceOutside(text),
            !text[..<space].hasSuffix("operator")
        else { return text }
        return String(text[text.index(after: space)...])
    }

    /// `closure #1 () -> () in main.hello() -> ()` → `closure #1 in main.hello`.
    private static func swift(_ name: Substring) -> String {
        let text = withoutBrackets(name)
        var parts: [String] = []
        for part in text.split(separator: " in ") {
            let whole = part.firstRange(of: " -> ").map { part[..<$0.lowerBound] } ?? part
            var words = whole.firstRange(of: " : ").map { whole[..<$0.lowerBound] } ?? whole
            // A closure has no name, so its parameters do not follow one.
            if words.last == ")", let open = words.lastIndex(of: "(") { words = words[..<open] }
            while words.last == " " { words.removeLast() }
            parts.append(String(words))
        }
        return parts.joined(separator: " in ")
    }

    /// Template arguments become `<…>`, and parameters are removed: both are in brackets right
    /// after a name. Other brackets are names themselves: `(anonymous namespace)`, `<T as Trait>`.
    private static func withoutBrackets(_ name: Substring) -> String {
        func isPart(_ before: String) -> Bool {
            before.last.map { $0.isLetter || $0.isNumber || "_>)]}:'$?".contains($0) } ?? false
        }
        return String(name)
            .collapsingBrackets("<", ">") { inner, before in
                // In Rust, the brackets of an implementation name its type.
                let isName = inner.hasPrefix("impl ") || inner.contains(" as ")
                return isPart(before) && !isName ? "<…>" : nil
            }
            .collapsingBrackets("(", ")") { inner, before in
                let isName = inner == "anonymous namespace" || inner.hasPrefix("extension in ")
                let isBehindOperator = "<=+-*/%&|^~!,".contains(before.last ?? " ")
                return !isName && (isPart(before) || isBehindOperator) ? "" : nil
            }
    }

    private static func lastSpaceOutside(_ text: String) -> String.Index? {
        var depth = 0
        for index in text.indices.reversed() {
            switch text[index] {
            case "(", "{", "[": depth -= 1
            case ")", "}", "]": depth += 1
            case " " where depth == 0: return index
            default: break
            }
        }
        return nil
    }
}

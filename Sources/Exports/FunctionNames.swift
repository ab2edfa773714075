extension String {
    /// A function's name in at most `width` columns. The name itself matters most. So these parts
    /// are removed first, in this order: the compiler's suffixes, the arguments, the template
    /// arguments, the result type, the enclosing namespaces, and only then a part of the name.
    package func shortenedFunction(to width: Int) -> String {
        guard displayWidth > width else { return self }
        var name = self
        let steps: [(String) -> String] = [
            { $0.withoutClones }, { $0.collapsing("(", ")") }, { $0.collapsing("<", ">") },
            { $0.withoutResult },
        ]
        for step in steps {
            name = step(name)
            if name.displayWidth <= width { return name }
        }
        return name.innermost(in: width)
    }

    /// Without " [clone .isra.0]", the suffix of gcc's partial and constant copies.
    private var withoutClones: String {
        var name = self[...]
        while name.hasSuffix("]"), let start = name.lastIndex(of: "["), start > name.startIndex,
            name[start...].hasPrefix("[clone "), name[name.index(before: start)] == " "
        {
            name = name[..<name.index(before: start)]
        }
        return String(name)
    }

    /// Without the result type before a C++ template's or function's name.
    private var withoutResult: String {
        guard contains("::"), !contains("operator") else { return self }
        let places = topLevel { $0 == " " || $0 == "(" }
        guard
            let arguments = places.last(where: { self[$0] == "(" && self[$0...].hasPrefix("(…)") }),
            let space = places.last(where: { self[$0] == " " && $0 < arguments }),
            self[space..<arguments].contains("::")
        else { return self }
        return String(self[index(after: space)...])
    }

    /// The whole name itself, and as much of the enclosing namespaces and classes as fits.
    private func innermost(in width: Int) -> String {
        let colons = topLevel { $0 == ":" }.filter { self[$0...].hasPrefix("::") }
        guard let last = colons.last else { return shortened(to: width) }
        let name = String(self[last...])
        let room = width - 1 - name.displayWidth
        guard room >= 0 else { return shortened(to: width) }
        var outer = self[..<last]
        while String(outer).displayWidth > room { outer.removeLast() }
        return String(outer) + "…" + name
    }

    /// The positions of characters of a kind outside of all brackets; an opening bracket counts as
    /// outside.
    private func topLevel(_ isWanted: (Character) -> Bool) -> [Index] {
        var depth = 0
        return indices.filter { index in
            if "(<[{".contains(self[index]) { depth += 1 }
            defer { if ")>]}".contains(self[index]) { depth -= 1 } }
            return isWanted(self[index]) && depth == ("(<[{".contains(self[index]) ? 1 : 0)
        }
    }

    /// With `…` in place of the content of outermost brackets.
    private func collapsing(_ open: Character, _ close: Character) -> String {
        collapsingBrackets(open, close) { inner, _ in
            inner.isEmpty || inner == "anonymous namespace" ? nil : "\(open)…\(close)"
        }
    }

    /// Replaces outermost pairs of brackets. Operators whose names are brackets stay.
    ///
    /// - Parameter replacement: receives the content of the brackets, and the preceding part of the
    ///   result; nil: the brackets stay.
    package func collapsingBrackets(
        _ open: Character, _ close: Character,
        _ replacement: (_ inner: String, _ before: String) -> String?
    ) -> String {
        var result = ""
        var inner = ""
        var depth = 0
        for character in self {
            if character == open, depth > 0 || !result.hasSuffix("operator") {
                depth += 1
                if depth == 1 {
                    inner = ""
                    continue
                }
            } else if character == close, depth > 0, inner.last != "-" || close != ">" {
                depth -= 1
                if depth == 0 {
                    result += replacement(inner, result) ?? "\(open)\(inner)\(close)"
                    continue
                }
            }
            if depth > 0 { inner.append(character) } else { result.append(character) }
        }
        // Brackets that never close belong to an arrow, a comparison, or a name that looks similar.
        return depth == 0 ? result : self
    }
}

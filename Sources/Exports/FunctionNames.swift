extension String {
    /// A function's name in at most `width` columns. The name itself matters most: its arguments
    /// are removed first, then its template arguments, and only then a part of the name.
    package func shortenedFunction(to width: Int) -> String {
        guard displayWidth > width else { return self }
        let plain = collapsing("(", ")")
        guard plain.displayWidth > width else { return plain }
        return plain.collapsing("<", ">").shortened(to: width)
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

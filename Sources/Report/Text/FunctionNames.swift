extension String {
    /// A function's name in at most `width` columns. The name itself is what people look for:
    /// its arguments go first, then its template arguments, and only then a part of itself.
    package func shortenedFunction(to width: Int) -> String {
        guard displayWidth > width else { return self }
        let plain = collapsing("(", ")")
        guard plain.displayWidth > width else { return plain }
        return plain.collapsing("<", ">").shortened(to: width)
    }

    /// With `…` in place of what stands between an outermost pair of brackets.
    private func collapsing(_ open: Character, _ close: Character) -> String {
        collapsingBrackets(open, close) { inner, _ in
            inner.isEmpty || inner == "anonymous namespace" ? nil : "\(open)…\(close)"
        }
    }

    /// Puts something else in place of outermost pairs of brackets. The operators whose names are
    /// brackets stay.
    ///
    /// - Parameter replacement: is given what stands between the brackets, and what comes before
    ///   them in the result; nil: they stay as they are.
    func collapsingBrackets(
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
        // Brackets that never close: an arrow, a comparison, a name that only looks like one.
        return depth == 0 ? result : self
    }
}

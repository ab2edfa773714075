extension String {
    /// How many terminal columns the text takes. It must have been escaped.
    package var displayWidth: Int {
        if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
        return reduce(0) { $0 + $1.displayWidth }
    }

    /// The text cut in its middle to at most `width` columns, with `…` for the missing part: the
    /// ends of a qualified name or a path tell more than its middle.
    package func shortened(to width: Int) -> String {
        guard displayWidth > width else { return self }
        guard width > 1 else { return width == 1 ? "…" : "" }
        // The beginning gets the larger part.
        let head = (width - 1) * 3 / 5
        let tail = width - 1 - head
        return Self.prefix(of: self, width: head) + "…"
            + String(Self.prefix(of: reversed(), width: tail).reversed())
    }

    /// A sentence in lines of at most `width` columns, each ended by a line break. The first line
    /// follows `start` and a space, the others are indented by `indent`.
    package func wrapped(
        to width: Int, after start: String = " ", indent: Int = 4
    ) -> String {
        var lines = [start]
        for word in split(separator: " ") {
            let word = String(word).shortened(to: width - indent)
            let last = lines.count - 1
            if lines[last] == start || lines[last].displayWidth + 1 + word.displayWidth <= width {
                lines[last] += (lines[last].isEmpty ? "" : " ") + word
            } else {
                lines.append(String(repeating: " ", count: indent) + word)
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func prefix(of characters: some Sequence<Character>, width: Int) -> String {
        var result = ""
        var used = 0
        for character in characters {
            used += character.displayWidth
            if used > width { break }
            result.append(character)
        }
        return result
    }
}

extension [String] {
    /// The parts separated by `·`, in one line, or in several if the width requires it; each ended
    /// by a line break.
    package func wrappedParts(to width: Int) -> String {
        var lines = [""]
        for part in self {
            let last = lines.count - 1
            let joined = lines[last].isEmpty ? part : lines[last] + " · " + part
            if lines[last].isEmpty || joined.displayWidth <= width {
                lines[last] = joined
            } else {
                lines.append("  " + part)
            }
        }
        return lines.map { $0.shortened(to: width) + "\n" }.joined()
    }
}

extension Character {
    /// 0 for marks without a base, 2 for wide characters (East Asian, emoji), else 1.
    fileprivate var displayWidth: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: return Self.isWide(scalar) ? 2 : 1
        }
    }

    /// The blocks of Unicode's `EastAsianWidth` that are completely, or almost completely, wide.
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf,
            0x4e00...0x9fff, 0xa000...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff,
            0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1faff,
            0x20000...0x3fffd:
            true
        default: scalar.properties.isEmojiPresentation
        }
    }
}

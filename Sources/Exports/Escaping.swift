extension String {
    /// The same text without anything that could deceive a terminal or a reader: control
    /// characters, escape sequences, line and paragraph separators and invisible formatting (bidi
    /// controls, zero-width characters) are written as `\u{1b}`.
    package var escapedForDisplay: String {
        // Most texts are plain ASCII.
        guard utf8.contains(where: { $0 < 0x20 || $0 >= 0x7f }),
            unicodeScalars.contains(where: \.needsEscape)
        else { return self }
        var result = ""
        for scalar in unicodeScalars {
            if scalar.needsEscape {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension Unicode.Scalar {
    /// True if the scalar changes the text around it instead of being visible.
    package var needsEscape: Bool {
        if value < 0x7f { return value < 0x20 }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return properties.isNoncharacterCodePoint
        }
    }
}

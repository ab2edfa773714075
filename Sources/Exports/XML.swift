package enum XML {
    /// Text for between tags or in an attribute's quotes; characters that XML forbids are spelled
    /// out.
    package static func text(_ text: String) -> String {
        var result = ""
        for scalar in text.escapedForDisplay.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Rounded to a hundredth.
    package static func number(_ value: Double) -> String {
        let hundredths = Int64((value * 100).rounded())
        let rest = abs(hundredths % 100)
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}

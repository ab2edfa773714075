/// The texts of `--help`, made from the tables of subcommands and options.
package enum HelpText {
    private static let width = 80
    /// Where the explanations of options begin.
    private static let indentation = 26

    /// For one subcommand, or for all; ends in a line break.
    package static func render(_ subcommand: Subcommand?) -> String {
        subcommand.map(of) ?? overview
    }

    private static var overview: String {
        var lines = [
            "Firstlight shows where the time of a program's launch goes: which phase, which",
            "thread, which code, and what it waited for.",
            "",
            "Usage:",
        ]
        lines += Subcommand.allCases.flatMap(usages).map { "  " + $0 }
        lines += ["", "Subcommands:"]
        for subcommand in Subcommand.allCases {
            lines += entry(subcommand.rawValue, subcommand.summary)
        }
        lines += entry("help [SUBCOMMAND]", "print this, or a subcommand's options")
        lines += ["", "Options:"]
        lines += entry("-h, --help", "print this help")
        lines += entry("--version", "print the version, commit and schema versions")
        lines += ["", "To begin with: firstlight record ./program"]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func of(_ subcommand: Subcommand) -> String {
        var lines = ["Usage: " + usages(subcommand).joined(separator: "\n       "), ""]
        for paragraph in subcommand.details {
            lines += wrap(paragraph, width: width) + [""]
        }
        lines.append("Options:")
        for option in OptionTable.options(of: subcommand) {
            lines += entry(title(option), option.help)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func usages(_ subcommand: Subcommand) -> [String] {
        subcommand.operands.map { operands in
            "firstlight \(subcommand.rawValue) [OPTION]..."
                + (operands.isEmpty ? "" : " " + operands)
        }
    }

    /// `-F, --frequency HZ`
    private static func title(_ option: OptionDeclaration) -> String {
        let short = option.short.map { "-\($0), " } ?? "    "
        return short + option.title
    }

    /// A term and its explanation, in two columns.
    private static func entry(_ term: String, _ explanation: String) -> [String] {
        let margin = String(repeating: " ", count: indentation)
        var lines = wrap(explanation, width: width - indentation).map { margin + $0 }
        let start = "  " + term
        guard start.count <= indentation - 2, let first = lines.first else {
            return [start] + lines
        }
        let padding = String(repeating: " ", count: indentation - start.count)
        lines[0] = start + padding + first.dropFirst(indentation)
        return lines
    }

    /// Breaks a text between words into lines of up to `width` characters.
    static func wrap(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return line.isEmpty ? lines : lines + [line]
    }
}

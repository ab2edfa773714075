import ProfileModel
package import Readiness
import Sampler

/// Conditions in the form of `--until`: `listen:8080`, `output:Server started`, `idle:200ms`.
package enum ReadyArgument {
    /// The limit, in bytes, for a text that is searched in the program's output.
    private static let longestText = 1024

    /// A condition's syntax, and when it is met.
    private struct Form {
        let syntax: String
        let meaning: String
    }

    private static let forms = [
        Form(syntax: "exit", meaning: "default"),
        Form(syntax: "notify", meaning: "READY=1, as by sd_notify"),
        Form(
            syntax: "listen[:PORT]",
            meaning: "it accepts connections, at this TCP port or at any stream socket"),
        Form(
            syntax: "output[:TEXT]",
            meaning: "first byte, or first line with TEXT, on its standard output or error"),
        Form(
            syntax: "window", meaning: "first window: mapped on X11, configured on Wayland"),
        Form(
            syntax: "frame",
            meaning: "first picture in a window: drawn on X11, committed on Wayland"),
        Form(syntax: "idle:TIME", meaning: "all threads have been blocked for TIME"),
        Form(
            syntax: "signpost:NAME",
            meaning: "the first event of that name, or end of an interval"),
        Form(syntax: "mark:NAME", meaning: "the same of a --mark"),
    ]

    /// The conditions for `subcommand`; not all can be watched in a running process.
    private static func forms(of subcommand: Subcommand) -> [Form] {
        // Only recordings change the program's code.
        [.measure, .gate].contains(subcommand)
            ? forms.filter { !$0.syntax.hasPrefix("mark") } : forms
    }

    /// All of them, for the help.
    static func help(_ subcommand: Subcommand) -> String {
        forms(of: subcommand).map { "\($0.syntax) (\($0.meaning))" }.joined(separator: "; ")
            + ". May be given several times: whichever comes first"
    }

    /// The valid forms, for error messages.
    package static func expectation(_ subcommand: Subcommand) -> String {
        let names = forms(of: subcommand).map(\.syntax)
        return "must be \(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")"
    }

    /// The beginning of every condition.
    static func beginnings(_ subcommand: Subcommand) -> [String] {
        forms(of: subcommand).map { form in
            let end = form.syntax.firstIndex { $0 == "[" || $0.isUppercase }
            return String(form.syntax[..<(end ?? form.syntax.endIndex)])
        }
    }

    /// nil if `text` is not a condition.
    package static func parse(_ text: String) -> ReadyCondition? {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count > 1 ? String(parts[1]) : nil
        switch (parts.first.map(String.init) ?? "", value) {
        case ("exit", nil): return .exit
        case ("notify", nil): return .notify
        case ("listen", nil): return .listen(port: nil)
        case ("listen", let port?): return self.port(port).map { .listen(port: $0) }
        case ("output", nil): return .output(text: nil)
        case ("output", let line?): return isFindable(line) ? .output(text: line) : nil
        case ("window", nil): return .window
        case ("frame", nil): return .frame
        case ("idle", let span?): return DurationArgument.parse(span).map { .idle($0) }
        case ("signpost", let name?): return name.isEmpty ? nil : .signpost(name)
        case ("mark", let name?): return name.isEmpty ? nil : .mark(name)
        default: return nil
        }
    }

    private static func port(_ text: String) -> UInt16? {
        guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let port = UInt16(text), port > 0 else {
            return nil
        }
        return port
    }

    /// True if the text can be part of one line.
    private static func isFindable(_ text: String) -> Bool {
        1...longestText ~= text.utf8.count && !text.utf8.contains(0x0A)
    }
}

import ProfileModel
package import Sampler

/// Conditions as `--until` has them: `listen:8080`, `output:Server started`, `idle:200ms`.
package enum ReadyArgument {
    /// As long as the longest text that is looked for in the program's output, in bytes.
    private static let longestText = 1024

    /// What would have been right, for error messages.
    package static let expectation =
        "must be exit, notify, listen[:PORT], output[:TEXT], window, frame, idle:TIME, "
        + "signpost:NAME or mark:NAME"

    /// What every condition begins with.
    static let beginnings = [
        "exit", "notify", "listen", "output", "window", "frame", "idle:", "signpost:", "mark:",
    ]

    /// nil when `text` is no condition.
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

    /// A part of one line.
    private static func isFindable(_ text: String) -> Bool {
        1...longestText ~= text.utf8.count && !text.utf8.contains(0x0A)
    }
}

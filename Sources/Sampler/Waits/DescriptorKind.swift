/// The kind of an open file, from the target of its link under `/proc/PID/fd`.
enum DescriptorKind: Hashable {
    case file(String)
    case pipe
    case socket
    case terminal(String)
    /// One of the kernel's own kinds: `eventfd`, `eventpoll`, `signalfd` …
    case special(String)

    /// nil: not known.
    init?(link: String) {
        if Self.isTerminal(link) {
            self = .terminal(link)
        } else if link.hasPrefix("/") {
            self = .file(link)
        } else if link.hasPrefix("pipe:[") {
            self = .pipe
        } else if link.hasPrefix("socket:[") {
            self = .socket
        } else if link.hasPrefix("anon_inode:") {
            let name = link.dropFirst("anon_inode:".utf8.count)
                .drop { $0 == "[" }.prefix { $0 != "]" }
            guard !name.isEmpty else { return nil }
            self = .special(String(name))
        } else {
            return nil
        }
    }

    private static func isTerminal(_ path: String) -> Bool {
        path.hasPrefix("/dev/pts/") || path.hasPrefix("/dev/tty") || path == "/dev/console"
            || path == "/dev/ptmx"
    }
}

import CSystem
import Glibc
import System

/// The two streams for all output.
package struct Console: Sendable {
    package enum Stream: Sendable {
        case output, error
    }

    /// Why something could not be printed.
    package struct Failure: Error, Hashable {
        package var errno: Int32

        /// True if the reader has closed the pipe (`firstlight report | head`).
        package var isClosedPipe: Bool { errno == EPIPE }
    }

    package var output: Int32
    package var error: Int32
    /// Wiped before anything else is written to either stream.
    package let line: LiveLine

    /// True if the locale has no UTF-8; see ``PlainText``.
    package var isPlain: Bool

    package init(
        output: Int32 = STDOUT_FILENO, error: Int32 = STDERR_FILENO,
        environment: (String) -> String? = { getenv($0).map { String(cString: $0) } }
    ) {
        isPlain = PlainText.isNeeded(environment)
        self.output = output
        self.error = error
        line = LiveLine(on: error)
    }

    private func descriptor(of stream: Stream) -> Int32 { stream == .output ? output : error }

    /// Writes all of `text`, in as many calls as needed. A closed pipe is a ``Failure`` like any
    /// other, not a SIGPIPE: a recorder must stay with its program to the end.
    package func write(_ text: String, to stream: Stream = .output) throws(Failure) {
        try write(Array(text.utf8), to: stream)
    }

    /// The same for bytes that are not text.
    package func write(_ bytes: [UInt8], to stream: Stream = .output) throws(Failure) {
        line.wipe()
        let guardian = PipeSignalGuard()
        defer { guardian.release() }
        let target = descriptor(of: stream)
        let problem = bytes.withUnsafeBytes { bytes -> Int32 in
            var rest = bytes
            while !rest.isEmpty {
                do throws(Errno) {
                    let written = try retrying {
                        Glibc.write(target, rest.baseAddress, rest.count)
                    }
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
                } catch {
                    guard error.number == EAGAIN else { return error.number }
                    Self.waitUntilWritable(target)
                }
            }
            return 0
        }
        guard problem == 0 else { throw Failure(errno: problem) }
    }

    /// Waits for a stream that another process sharing it has made non-blocking.
    private static func waitUntilWritable(_ descriptor: Int32) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&entry, 1, -1)
    }

    /// One line to standard error: `firstlight: …`. A failure is ignored: there is no other stream
    /// to report it to.
    package func complain(_ message: String) {
        try? write(words("firstlight: \(Self.oneLine(message))\n"), to: .error)
    }

    /// The text with control characters (paths may contain any) written as `\u{1b}`.
    package static func oneLine(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The width and the features that a report may use on the stream.
    package func terminal(of stream: Stream) -> Terminal {
        let descriptor = descriptor(of: stream)
        return Terminal(
            isTerminal: isatty(descriptor) == 1, columns: Terminal.columns(of: descriptor),
            environment: { getenv($0).map { String(cString: $0) } })
    }
}

/// Blocks SIGPIPE in this thread while it writes. How the process (and the programs that it starts)
/// handle the signal does not change.
private struct PipeSignalGuard {
    private var previous = sigset_t()
    private var wasPending: Bool

    init() {
        var pipe = Self.pipeSignal
        wasPending = Self.isPending
        pthread_sigmask(SIG_BLOCK, &pipe, &previous)
    }

    func release() {
        var pipe = Self.pipeSignal
        if !wasPending && Self.isPending {
            var now = timespec()
            _ = try? retrying { sigtimedwait(&pipe, nil, &now) }
        }
        var mask = previous
        pthread_sigmask(SIG_SETMASK, &mask, nil)
    }

    private static var pipeSignal: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGPIPE)
        return set
    }

    private static var isPending: Bool {
        var set = sigset_t()
        sigpending(&set)
        return sigismember(&set, SIGPIPE) == 1
    }
}

/// Text for locales without UTF-8. Each character that reports draw with has a replacement of one
/// column, so that tables stay aligned. Formats for programs always use UTF-8.
package enum PlainText {
    /// True if the chosen locale (`LC_ALL` before `LC_CTYPE` before `LANG`) has no UTF-8. If none
    /// was chosen, this says nothing about the terminal.
    package static func isNeeded(_ environment: (String) -> String?) -> Bool {
        let chosen = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment)
            .first { !$0.isEmpty }
        guard let chosen else { return false }
        let name = chosen.prefix { $0 != "@" }
        if name == "C" || name == "POSIX" { return true }
        guard let dot = name.firstIndex(of: ".") else { return false }
        let charset = name[name.index(after: dot)...].lowercased().filter { $0 != "-" }
        return charset != "utf8"
    }

    /// The same in ASCII. Other characters become question marks.
    package static func of(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar.isASCII {
                result.unicodeScalars.append(scalar)
            } else {
                result.append(standIns[scalar] ?? "?")
            }
        }
        return result
    }

    private static let standIns: [Unicode.Scalar: Character] = [
        "●": "*", "·": "-", "…": "~", "–": "-", "—": "-", "→": ">", "←": "<", "◀": "<", "µ": "u",
        "μ": "u", "×": "x", "±": "~", "≤": "<", "≥": ">", "‘": "'", "’": "'", "“": "\"", "”": "\"",
        "█": "#", "▇": "#", "▆": "#", "▅": "=", "▄": "=", "▃": "-", "▂": "-", "▁": "_", "│": "|",
        "├": "|", "└": "`", "─": "-",
    ]
}

extension Console {
    /// Text for people, as far as the locale can show it.
    package func words(_ text: String) -> String { isPlain ? PlainText.of(text) : text }

    /// The bytes of a text for people that goes to a file, or else to standard output. A file may
    /// be read anywhere, so it keeps UTF-8.
    func bytes(_ text: String, for path: String?) -> [UInt8] {
        Array((path == nil ? words(text) : text).utf8)
    }
}

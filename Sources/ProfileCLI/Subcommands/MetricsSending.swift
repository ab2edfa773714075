import Glibc
import Report
import Shipping

/// Sends figures to a server, and reports the result.
struct MetricsSending {
    private let address: WebAddress

    init(to address: WebAddress) { self.address = address }

    /// Returns the exit status: 0 if all queued figures were sent.
    func send(_ payload: [UInt8], _ console: Console) -> Int32 {
        guard let folder else {
            console.complain(
                "--otlp: nowhere to keep what cannot be sent: neither XDG_STATE_HOME nor HOME is set"
            )
            return 1
        }
        guard let headers = Self.headers else {
            console.complain(
                "--otlp: OTEL_EXPORTER_OTLP_HEADERS must be name=value,name=value, percent-encoded")
            return 1
        }
        let outcome: MetricsSender.Outcome
        do throws(QueueError) {
            outcome = try MetricsSender(
                to: address, DiskQueue(folder: folder), headers: headers
            ).send(payload)
        } catch {
            console.complain("--otlp: cannot keep what is to be sent: \(error.description)")
            return 1
        }
        for problem in problems(outcome, folder) { console.complain(problem) }
        return outcome.kept > 0 || !outcome.refusals.isEmpty ? 1 : 0
    }

    private func problems(_ outcome: MetricsSender.Outcome, _ folder: String) -> [String] {
        var lines: [String] = []
        for refusal in outcome.refusals {
            switch refusal {
            case .status(let status, let text):
                lines.append(
                    "\(address): refused (status \(status)), and not sent again"
                        + Self.words(text))
            case .rejectedPoints(let points, let text):
                lines.append(
                    "\(address): accepted all but \(Numbers.count(points, "point"))"
                        + Self.words(text))
            }
        }
        if outcome.kept > 0 {
            let count = Numbers.count(outcome.kept, "export")
            lines.append(
                "\(address): \(outcome.reason); \(count) kept in \(folder), to be sent next time"
            )
        }
        if outcome.dropped > 0 {
            lines.append(
                "\(folder) was full: the oldest were deleted unsent: "
                    + Numbers.count(outcome.dropped, "export"))
        }
        return lines
    }

    /// A server may say anything.
    private static func words(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).first.map { String($0) } ?? ""
        return line.isEmpty ? "" : ": " + line.escapedForDisplay
    }

    /// Each server has its own queue; nil: there is no place for it.
    private var folder: String? {
        func path(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let state = path("XDG_STATE_HOME") ?? path("HOME").map { "\($0)/.local/state" }
        let host = address.host.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        let name = "\(host.prefix(100))-\(address.fingerprint)"
        return state.map { "\($0)/firstlight/otlp/\(name)" }
    }

    /// In the form of OpenTelemetry's exporters: `name=value,name=value`, with percent-encoded
    /// values. nil: they are invalid.
    private static var headers: [MetricsSender.Header]? {
        let text = getenv("OTEL_EXPORTER_OTLP_HEADERS").map { String(cString: $0) } ?? ""
        var headers: [MetricsSender.Header] = []
        for pair in text.split(separator: ",") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let value = decoded(parts[1]) else { return nil }
            let name = parts[0].filter { $0 != " " }
            let isToken = name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
            guard !name.isEmpty, isToken else { return nil }
            headers.append((name, value))
        }
        return headers
    }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

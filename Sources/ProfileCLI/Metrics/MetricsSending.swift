import Exports
import Glibc
import Report
import Shipping

/// Sends figures to a server, and reports the result.
struct MetricsSending {
    private let address: WebAddress

    init(to address: WebAddress) { self.address = address }

    /// Returns the exit status: 0 if all queued figures were sent.
    func send(_ payload: [UInt8], _ console: Console) -> Int32 {
        guard let folder = DiskQueue.folder(for: address, environment: Self.variable) else {
            console.complain(
                "--otlp: nowhere to keep what cannot be sent: neither XDG_STATE_HOME nor HOME is set"
            )
            return 1
        }
        let list = Self.variable("OTEL_EXPORTER_OTLP_HEADERS") ?? ""
        guard let headers = HeaderList.parse(list) else {
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

    /// The server's text may contain any characters.
    private static func words(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).first.map { String($0) } ?? ""
        return line.isEmpty ? "" : ": " + line.escapedForDisplay
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}

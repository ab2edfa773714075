internal import Glibc
package import ProfileModel
internal import System

/// Sends OTLP metrics through a queue. A payload that cannot be sent now is sent with the next one.
package struct MetricsSender: Sendable {
    /// A refusal by the server.
    package enum Refusal: Hashable, Sendable {
        /// It refused a payload for good, with this status and message.
        case status(Int, String)
        /// It refused this many points of a payload, and accepted the others.
        case rejectedPoints(Int, String)
    }

    package struct Outcome: Hashable, Sendable {
        package var sent: Int
        /// Payloads that are still in the queue; `reason` says why.
        package var kept = 0
        package var reason = ""
        package var refusals: [Refusal] = []
        /// Payloads dropped from the queue before they could be sent.
        package var dropped = 0

        package init(sent: Int = 0) { self.sent = sent }
    }

    /// Tells the time, and waits.
    package struct Clock: Sendable {
        package var now: @Sendable () -> MonotonicTime
        package var pause: @Sendable (TimeSpan) -> Void

        package init(
            now: @escaping @Sendable () -> MonotonicTime,
            pause: @escaping @Sendable (TimeSpan) -> Void
        ) {
            (self.now, self.pause) = (now, pause)
        }

        package static let machines = Clock(now: { MonotonicTime.now }) { span in
            usleep(useconds_t(clamping: max(span.nanoseconds, 0) / 1_000))
        }
    }

    private let address: WebAddress
    private let headers: [Header]
    private let queue: DiskQueue
    private let client: HTTPClient
    /// The time for all attempts together.
    private let patience: TimeSpan
    private let clock: Clock

    package typealias Header = (name: String, value: String)

    /// - Parameter headers: in addition to those of the protocol.
    package init(
        to address: WebAddress, _ queue: DiskQueue, headers: [Header] = [],
        client: HTTPClient = HTTPClient(), patience: TimeSpan = .milliseconds(15_000),
        clock: Clock = .machines
    ) {
        self.address = address
        self.headers = [("Content-Type", "application/json")] + headers
        self.queue = queue
        self.client = client
        self.patience = patience
        self.clock = clock
    }

    /// The statuses after which the protocol allows another attempt.
    private static let temporary: Set<Int> = [429, 502, 503, 504]

    /// Adds a payload to the queue, and sends the whole queue, the oldest first.
    package func send(_ payload: [UInt8]) throws(QueueError) -> Outcome {
        try queue.append(payload)
        let delivered = try queue.delivering { () throws(QueueError) in
            var outcome = Outcome()
            let end = clock.now() + patience
            var passed: Set<DiskQueue.Entry> = []
            // Other processes may add payloads at the same time: we send these, too.
            while let entry = queue.entries.first(where: { !passed.contains($0) }) {
                guard deliver(entry, by: end, &outcome, &passed) else { break }
            }
            outcome.kept = queue.entries.count
            outcome.dropped += queue.takeDropped()
            return outcome
        }
        if let delivered { return delivered }
        var outcome = Outcome()
        (outcome.kept, outcome.reason) = (1, "another export is sending")
        return outcome
    }

    /// False: stop here, the server cannot be reached now.
    private func deliver(
        _ entry: DiskQueue.Entry, by end: MonotonicTime, _ outcome: inout Outcome,
        _ passed: inout Set<DiskQueue.Entry>
    ) -> Bool {
        guard !queue.isTooLong(entry) else {
            queue.remove(entry)
            outcome.dropped += 1
            return true
        }
        do throws(QueueError) {
            guard deliver(try queue.contents(of: entry), by: end, &outcome) else { return false }
            queue.remove(entry)
        } catch {
            // Probably another user's file: leave it there.
            outcome.reason = error.description
            passed.insert(entry)
        }
        return true
    }

    /// True if the server has given a final answer; false: try again later.
    private func deliver(
        _ bytes: [UInt8], by end: MonotonicTime, _ outcome: inout Outcome
    ) -> Bool {
        var wait = TimeSpan.milliseconds(500)
        while true {
            let left = end - clock.now()
            guard left > .zero else {
                if outcome.reason.isEmpty { outcome.reason = HTTPError.timedOut.description }
                return false
            }
            var client = client
            client.limit = min(client.limit, left)
            var wanted = wait
            do throws(HTTPError) {
                let response = try client.post(bytes, to: address, headers: headers)
                guard Self.temporary.contains(response.status) else {
                    take(response, &outcome)
                    return true
                }
                outcome.reason = "status \(response.status)"
                if let seconds = response.retryAfter {
                    wanted = max(wait, .milliseconds(Int64(min(seconds, 86_400)) * 1_000))
                }
            } catch {
                outcome.reason = error.description
            }
            guard wanted < end - clock.now() else { return false }
            clock.pause(wanted)
            wait = wait + wait
        }
    }

    private func take(_ response: HTTPResponse, _ outcome: inout Outcome) {
        let text = String(decoding: response.body.prefix(1 << 16), as: UTF8.self)
        guard response.isSuccess else {
            outcome.refusals.append(.status(response.status, String(text.prefix(500))))
            return
        }
        outcome.sent += 1
        if let rejected = PartialSuccess(text) {
            outcome.refusals.append(.rejectedPoints(rejected.points, rejected.message))
        }
    }
}

/// A server's answer to a request that it accepted only in part (OTLP's `partialSuccess`).
///
/// We search the text for two values instead of parsing it: they are only shown to the user.
struct PartialSuccess: Hashable, Sendable {
    var points: Int
    var message: String

    /// nil: the server accepted everything.
    init?(_ text: String) {
        guard let points = Self.value(of: "rejectedDataPoints", in: text).flatMap({ Int($0) }),
            points > 0
        else { return nil }
        self.points = points
        message = Self.value(of: "errorMessage", in: text).map(String.init) ?? ""
    }

    /// A number, or the text between quotes, up to the first quote that is not escaped.
    private static func value(of name: String, in text: String) -> Substring? {
        guard let key = text.firstRange(of: "\"\(name)\"") else { return nil }
        let blank: (Character) -> Bool = { $0 == " " || $0 == ":" || $0.isNewline || $0 == "\t" }
        let rest = text[key.upperBound...].drop(while: blank)
        guard rest.first == "\"" else { return rest.prefix { $0.isNumber } }
        var isEscaped = false
        return rest.dropFirst().prefix { character in
            defer { isEscaped = !isEscaped && character == "\\" }
            return isEscaped || character != "\""
        }
    }
}

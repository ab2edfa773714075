internal import Glibc
package import ProfileModel

/// Sends OTLP's metrics, by way of a queue: what cannot be sent now is sent with the next.
package struct MetricsSender: Sendable {
    /// What became of one that was sent.
    package enum Refusal: Hashable, Sendable {
        /// For good; the server's words.
        case status(Int, String)
        /// It took the others.
        case rejectedPoints(Int, String)
    }

    package struct Outcome: Hashable, Sendable {
        package var sent: Int
        /// Are in the queue, and why.
        package var kept = 0
        package var reason = ""
        package var refusals: [Refusal] = []
        /// Were dropped from the queue before they could be sent.
        package var dropped = 0

        package init(sent: Int = 0) { self.sent = sent }
    }

    private let address: WebAddress
    private let queue: DiskQueue
    private let client: HTTPClient
    /// How long it is tried, in all.
    private let patience: TimeSpan
    private let pause: @Sendable (TimeSpan) -> Void

    /// - Parameter pause: waits.
    package init(
        to address: WebAddress, _ queue: DiskQueue, client: HTTPClient = HTTPClient(),
        patience: TimeSpan = .milliseconds(15_000),
        pause: @escaping @Sendable (TimeSpan) -> Void = MetricsSender.sleep
    ) {
        self.address = address
        self.queue = queue
        self.client = client
        self.patience = patience
        self.pause = pause
    }

    package static let sleep: @Sendable (TimeSpan) -> Void = { span in
        usleep(useconds_t(clamping: max(span.nanoseconds, 0) / 1_000))
    }

    /// Only of these the protocol says that the same may be sent again.
    private static let temporary: Set<Int> = [429, 502, 503, 504]

    /// Keeps a payload, and sends what is kept, the oldest first.
    package func send(_ payload: [UInt8]) throws(QueueError) -> Outcome {
        try queue.append(payload)
        return try queue.delivering { () throws(QueueError) in
            var outcome = Outcome()
            var left = patience
            for entry in queue.entries {
                // Somebody may have removed it by hand.
                guard let bytes = queue.contents(of: entry) else { continue }
                guard deliver(bytes, &left, &outcome) else { break }
                queue.remove(entry)
            }
            outcome.kept = queue.entries.count
            outcome.dropped = queue.takeDropped()
            return outcome
        }
    }

    /// Whether it is dealt with; false: it is to be tried later.
    private func deliver(
        _ bytes: [UInt8], _ left: inout TimeSpan, _ outcome: inout Outcome
    ) -> Bool {
        var wait = TimeSpan.milliseconds(500)
        while true {
            var wanted = wait
            do throws(HTTPError) {
                let response = try client.post(
                    bytes, to: address, headers: [("Content-Type", "application/json")])
                guard Self.temporary.contains(response.status) else {
                    take(response, &outcome)
                    return true
                }
                outcome.reason = "status \(response.status)"
                if let seconds = response.retryAfter {
                    wanted = .milliseconds(Int64(clamping: min(seconds, 86_400)) * 1_000)
                }
            } catch {
                outcome.reason = error.description
            }
            guard wanted < left else { return false }
            pause(wanted)
            left = left - wanted
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

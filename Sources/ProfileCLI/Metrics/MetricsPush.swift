import Analysis
import ProfileModel
import Report
import Sampler
import Shipping
import Synchronization
import System

/// Sends, at intervals, the figures of all launches stored since the beginning.
struct MetricsPush {
    private let textFolder: String?
    private let server: WebAddress?
    private let interval: TimeSpan
    private let console: Console
    private var metrics = LaunchMetrics()
    /// When to send new figures; nil: there are none.
    private(set) var due: MonotonicTime?
    private let sending = Sending()

    /// A server may be slow while launches continue, so a separate thread waits for it.
    private final class Sending: Sendable {
        private let isBusy = Atomic(false)

        /// - Returns: false: the previous request is still running, or no thread is available.
        func begin(_ body: @escaping @Sendable () -> Void) -> Bool {
            guard !isBusy.exchange(true, ordering: .acquiringAndReleasing) else { return false }
            let isStarted = startThread {
                body()
                self.isBusy.store(false, ordering: .releasing)
            }
            if !isStarted { isBusy.store(false, ordering: .releasing) }
            return isStarted
        }
    }

    /// nil: there is no receiver.
    init?(_ options: WatchOptions, _ console: Console) {
        guard options.textFolder != nil || options.server != nil else { return nil }
        (textFolder, server) = (options.textFolder, options.server)
        (interval, self.console) = (options.pushEvery, console)
    }

    mutating func add(_ measurement: Measurement) {
        metrics.add(measurement)
        if due == nil { due = .now + interval }
    }

    /// Sends the figures, if it is time.
    mutating func push() {
        guard let due, due <= .now else { return }
        self.due = nil
        writeText()
        guard let server else { return }
        let (payload, console) = (payload, console)
        let isBegun = sending.begin { _ = MetricsSending(to: server).send(payload, console) }
        // The next request will include all figures of this one.
        if !isBegun { self.due = .now + interval }
    }

    /// Sends the rest. The server gets as much time as in a single export.
    mutating func end() {
        guard due != nil else { return }
        due = nil
        writeText()
        if let server { _ = MetricsSending(to: server).send(payload, console) }
    }

    private func writeText() {
        guard let textFolder else { return }
        _ = Output.write(
            render(.prometheus), to: "\(textFolder)/firstlight-watch.prom", console)
    }

    private var payload: [UInt8] { render(.otlp) }

    private func render(_ format: MetricsFormat) -> [UInt8] {
        Array(
            format.render(
                metrics, version: Version.current, host: MeasuredMachine.hostName,
                date: WallClock.now
            ).utf8)
    }
}

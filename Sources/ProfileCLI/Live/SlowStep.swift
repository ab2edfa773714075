import Glibc
import Synchronization
import System

/// The current state of a step: the step writes it, and the display reads it.
final class Stage<Value: Sendable>: Sendable {
    private let current: Mutex<Value>

    init(_ value: Value) { current = Mutex(value) }

    var value: Value {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    func update(_ change: (inout Value) -> Void) { current.withLock { change(&$0) } }
}

/// A step that shows its state on a live line if it takes long.
final class SlowStep: Sendable {
    private let line: LiveLine
    private let describe: @Sendable () -> String?
    /// A pipe's end, closed when the step is over.
    private let over: Int32

    /// In milliseconds. A shorter step needs no progress display.
    private static let patience: Int32 = 300
    private static let interval: Int32 = 200

    private init(_ line: LiveLine, over: Int32, _ describe: @escaping @Sendable () -> String?) {
        self.line = line
        self.over = over
        self.describe = describe
    }

    /// Runs `body`.
    /// - Parameters:
    ///   - line: nil: nothing is shown.
    ///   - describe: called from another thread.
    static func run<Result, Failure: Error>(
        on line: LiveLine?, _ describe: @escaping @Sendable () -> String?,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var ends: [Int32] = [-1, -1]
        guard let line, line.isVisible, pipe(&ends) == 0 else { return try body() }
        let step = SlowStep(line, over: ends[0], describe)
        let thread = JobThread { step.watch() }
        defer {
            close(ends[1])
            thread?.join()
            close(ends[0])
            line.wipe()
        }
        return try body()
    }

    private func watch() {
        var patience = Self.patience
        while true {
            var entry = pollfd(fd: over, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, patience) == 0 else { return }
            if let text = describe() { line.show(text) }
            patience = Self.interval
        }
    }
}

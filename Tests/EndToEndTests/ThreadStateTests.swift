import EndToEndSupport
import TestSupport
import Testing

extension EndToEnd {
    /// A sample does not change a thread's stack and registers, and a stack that was large enough
    /// without recording is large enough with it.
    @Suite struct ThreadState {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        @discardableResult
        private func compare(
            _ words: [String], options: [String] = Firstlight.defaultCapture
        ) throws -> LaunchReport {
            try SideBySide(scratch: scratch).compare(fixture: words, options: options)
        }

        /// The C library's smallest stack has room for a signal's frame.
        @Test(arguments: [
            ["stacks", "smallest"], ["stacks", "given"], ["stacks", "coroutine"],
            ["stacks", "coroutine", "8192"], ["stacks", "alternate"], ["stacks", "deep"],
        ])
        func smallStacks(words: [String]) throws { try compare(words) }

        /// Less than 2 KiB are left: no room for a signal's frame. A program that gets no signals
        /// does not need it.
        @Test func stacksWithoutRoomForASignal() throws {
            try compare(["stacks", "given", "24576", "18432"])
        }

        /// The same on a stack that the program made itself and switches to between two ticks. This
        /// cannot be known before a signal arrives (docs/design/Sampler/Signal.md). Without events,
        /// `--capture signal` may send this signal; `--capture ptrace` does no harm.
        @Test func coroutinesWithoutRoomForASignal() throws {
            try compare(["stacks", "coroutine", "8192", "6144"], options: ["--capture", "ptrace"])
        }

        @Test func aHundredThousandFrames() throws { try compare(["deep", "100000"]) }

        @Test func registersAndModes() throws { try compare(["preserved"]) }

        @Test func restartableSequences() throws { try compare(["percpu"]) }

        /// Our changes to the program are undone while it is in the middle of something.
        @Test(arguments: [
            ["preserved"], ["percpu"], ["urgent", "late", "50"], ["blocking", "stay", "200"],
            ["stacks", "smallest"], ["masked", "wait"], ["sandbox", "filter"],
        ])
        func theRecordingEndsFirst(words: [String]) throws {
            try SideBySide(scratch: scratch).compare(
                fixture: words, options: Firstlight.defaultCapture + ["--duration", "90ms"])
        }
    }
}

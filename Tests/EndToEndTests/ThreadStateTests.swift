import Testing

extension EndToEnd {
    /// What a thread keeps on its stack and in its registers is there after a sample, and a stack
    /// that was large enough without us is large enough.
    @Suite struct ThreadState {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        @discardableResult
        private func compare(
            _ words: [String], options: [String] = Firstlight.defaultCapture
        ) throws -> LaunchReport {
            try SideBySide(scratch: scratch).compare(fixture: words, options: options)
        }

        /// The C library's smallest stack leaves room for a signal's frame.
        @Test(arguments: [
            ["stacks", "smallest"], ["stacks", "given"], ["stacks", "coroutine"],
            ["stacks", "coroutine", "8192"], ["stacks", "alternate"], ["stacks", "deep"],
        ])
        func smallStacks(words: [String]) throws { try compare(words) }

        /// Less than 2 KiB are left: no room for a signal's frame, which a program that gets no
        /// signals need not have.
        @Test func stacksWithoutRoomForASignal() throws {
            try compare(["stacks", "given", "24576", "18432"])
        }

        /// The same on a stack that the program made itself and changes to between two ticks:
        /// nobody can know that before a signal arrives (docs/design/Sampler/Signal.md), which
        /// `--capture signal` may send where there are no events. `--capture ptrace` does no harm.
        @Test func coroutinesWithoutRoomForASignal() throws {
            try compare(["stacks", "coroutine", "8192", "6144"], options: ["--capture", "ptrace"])
        }

        @Test func aHundredThousandFrames() throws { try compare(["deep", "100000"]) }

        @Test func registersAndModes() throws { try compare(["preserved"]) }

        @Test func restartableSequences() throws { try compare(["percpu"]) }

        /// What was placed in the program is taken back while it is in the middle of something.
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

/// `firstlight record`.
enum RecordCommand {
    /// Records, and returns the exit status.
    static func run(_ options: RecordOptions, _ console: Console) -> Int32 {
        RecordingRun.run(options, console)
    }
}

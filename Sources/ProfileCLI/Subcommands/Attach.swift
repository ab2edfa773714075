/// `firstlight attach`: like any other recording, except for the origin of the process.
enum AttachCommand {
    /// Records, and returns the exit status.
    static func run(_ options: RecordOptions, _ console: Console) -> Int32 {
        RecordingRun.run(options, console)
    }
}

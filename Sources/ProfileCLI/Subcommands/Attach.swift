/// `firstlight attach`: a recording like any other, but for where the process comes from.
enum AttachCommand {
    /// Records, and returns the exit status.
    static func run(_ options: RecordOptions, _ console: Console) -> Int32 {
        RecordCommand.run(options, console)
    }
}

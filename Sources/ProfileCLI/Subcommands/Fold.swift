import Analysis
import Exports
import Report

/// `firstlight fold`.
enum FoldCommand {
    /// Prints the folded stacks, and returns the exit status.
    static func run(_ options: FoldOptions, _ console: Console) -> Int32 {
        Output.print(to: console) { () throws(Reading.Failure) in
            let profile = try Reading.profile(
                of: options.file, names: options.names, process: options.process)
            var folding = FoldedStacks.Options()
            folding.selection = try Reading.selection(
                of: profile, phase: options.phase, thread: options.thread,
                interval: options.interval)
            folding.weight = options.weight
            folding.showsPhase = options.showsPhase
            folding.showsThread = options.showsThread
            return FoldedStacks.render(profile, options: folding)
        }
    }
}

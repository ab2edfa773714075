import CFuzz
import Glibc

/// What a target's `main` calls: SwiftPM has a `main` function of each executable's own in mind.
package func run() -> Never {
    exit(fuzz_run(CommandLine.argc, CommandLine.unsafeArgv))
}

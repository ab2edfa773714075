@preconcurrency import Glibc
import PerfData

/// What the unwinder does with the samples of a perf.data file: how fast, how completely.
/// `Benchmarks/unwind.py` holds it against perf.
@main
enum UnwindBenchmark {
    private static let usage = """
        usage: UnwindBenchmark FILE [SAMPLES]   figures of the first SAMPLES samples, or of all
               UnwindBenchmark --stacks FILE    every sample's stack
               UnwindBenchmark --agreement FILE [SAMPLES]   beside libunwind's
        of the process in a perf.data file that has most samples

        """

    static func main() async {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let printsStacks = arguments.first == "--stacks"
        let compares = arguments.first == "--agreement"
        if printsStacks || compares { arguments.removeFirst() }
        let limit = arguments.count == 2 ? Int(arguments[1]) : .max
        guard let limit, arguments.count == 1 || arguments.count == 2 && !printsStacks else {
            fputs(usage, stderr)
            exit(64)
        }
        do throws(PerfDataError) {
            let load = try Load(path: arguments[0], limit: limit)
            guard load.count > 0 else {
                fputs("UnwindBenchmark: \(arguments[0]): no copied stacks\n", stderr)
                exit(65)
            }
            if printsStacks {
                Stacks.write(load)
            } else if compares {
                var agreement = Agreement()
                agreement.write(load)
            } else {
                await Measurement(load).write()
            }
        } catch {
            fputs("UnwindBenchmark: \(error)\n", stderr)
            exit(65)
        }
    }
}

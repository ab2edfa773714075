import Recorder
import Recording
import Report
import Symbolicate

/// Symbolicating the recordings of the processes that the recorded one started.
struct ChildSymbolication {
    let children: [Recorder.Child]
    let options: RecordOptions
    let console: Console

    /// Until all are, or somebody wants us to end: what is left can be read nevertheless.
    func run() {
        guard !children.isEmpty else { return }
        let stage = Stage(0)
        let count = Numbers.grouped(children.count)
        SlowStep.run(on: options.isQuiet ? nil : console.line) {
            "firstlight: looking up functions of children, "
                + "\(Numbers.grouped(stage.value)) of \(count) done"
        } _: {
            let shared = SharedAnswers()
            for child in children {
                guard !Interrupt.isPending, symbolicate(child, shared) else {
                    return sayWhatIsLeft(after: stage.value)
                }
                stage.update { $0 += 1 }
            }
        }
    }

    private func sayWhatIsLeft(after done: Int) {
        let left = Numbers.grouped(children.count - done)
        console.complain(
            "interrupted: \(left) of \(Numbers.grouped(children.count)) children's recordings are "
                + "without functions' names; firstlight report looks them up")
    }

    /// One that cannot be completed can be read nevertheless.
    ///
    /// - Returns: false: somebody wanted us to end meanwhile.
    private func symbolicate(_ child: Recorder.Child, _ shared: SharedAnswers) -> Bool {
        do throws(RecordingError) {
            var timings = Timings()
            // The line is ours.
            let left = try Symbolication(
                child.held, cache: options.symbolCache, shared: shared, console, isQuiet: true
            )
            .complete(child.path, &timings)
            return left == 0
        } catch {
            console.complain(error.description)
            return true
        }
    }
}

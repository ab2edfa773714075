import Recording

/// `firstlight history`.
enum HistoryCommand {
    /// Shows a history or adds to one, and returns the exit status.
    static func run(_ options: HistoryOptions, _ console: Console) -> Int32 {
        switch options {
        case .show(let showing): return HistoryReading.run(showing, console)
        case .add(let files, let folder):
            let added = files.map { add($0, to: folder, console) }
            return added.allSatisfy(\.self) ? 0 : 1
        }
    }

    private static func add(_ file: String, to folder: String, _ console: Console) -> Bool {
        do throws(RecordingError) {
            switch try MeasurementFolder.add(file, to: folder) {
            case .new(let path): return told("added \(file) as \(path)", console)
            case .known(let path): return told("\(file) is already there as \(path)", console)
            }
        } catch {
            console.complain(error.description)
            return false
        }
    }

    private static func told(_ text: String, _ console: Console) -> Bool {
        Output.print(console.words(Console.oneLine(text) + "\n"), to: console) == 0
    }
}

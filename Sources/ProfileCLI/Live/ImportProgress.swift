import Exports
import Importer
import Report

extension PerfImport.Progress {
    /// "firstlight: reading, 12 MB of 40 MB"
    var text: String {
        let read = Numbers.bytes(Int64(clamping: position))
        let step = isSearching ? "looking for the process" : "reading"
        return "firstlight: \(step), \(read) of \(Numbers.bytes(Int64(clamping: size)))"
    }
}

extension Timings {
    init(of timings: ImportTimings) {
        self.init()
        add("reading perf.data", timings.reading)
        let stacks = Numbers.count(timings.stacks, "stack")
        let frames = Numbers.count(timings.frames, "frame")
        add("unwinding", timings.unwinding, cpu: timings.unwindingCPU, "\(stacks), \(frames)")
        add("writing slices", timings.writing)
    }
}

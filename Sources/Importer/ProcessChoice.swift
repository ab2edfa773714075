import PerfData
import ProfileModel

/// The process in a file that is imported.
struct ProcessChoice: Hashable, Sendable {
    var pid: Int32
    /// The process and its ancestors, as far as the file knows them: it inherits their mappings.
    var lineage: Set<Int32>

    /// Reads the file to its end (or its damage).
    ///
    /// - Parameters:
    ///   - wanted: nil: the process that perf started, or if it started none, the one with the most
    ///     samples.
    ///   - tell: called now and then.
    init(
        _ wanted: Int32?, in file: PerfFile, path: String, tell: () -> Void = {}
    ) throws(ImportError) {
        var census = Census()
        var records = 0
        while let record = try? file.next() {
            census.add(record)
            records += 1
            if records.isMultiple(of: PerfImport.tellInterval) { tell() }
        }
        let started = file.events.contains(where: \.startsAtExec) ? census.firstExec : nil
        guard let pid = wanted ?? started ?? census.busiest, census.samples[pid] != nil else {
            throw .noSamples(path: path, pid: wanted ?? started, busiest: census.busiest)
        }
        self.pid = pid
        lineage = census.lineage(of: pid)
    }

    private struct Census {
        var samples: [Int32: Int] = [:]
        var parents: [Int32: Int32] = [:]
        var firstExec: Int32?

        mutating func add(_ record: PerfRecord) {
            switch record.body {
            case .sample(let sample) where sample.pid > 0: samples[sample.pid, default: 0] += 1
            case .fork(let pid, let parent, _, _) where pid != parent: parents[pid] = parent
            case .name(let pid, _, _, let isExec) where isExec: firstExec = firstExec ?? pid
            default: break
            }
        }

        /// Of several such processes, the one with the lowest id.
        var busiest: Int32? {
            samples.max { ($0.value, -$0.key) < ($1.value, -$1.key) }?.key
        }

        func lineage(of pid: Int32) -> Set<Int32> {
            var result: Set<Int32> = [pid]
            var current = pid
            while let parent = parents[current], result.insert(parent).inserted {
                current = parent
            }
            return result
        }
    }
}

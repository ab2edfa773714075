import ProfileModel
import Unwind

/// Every sample's stack as text, in the words of `perf script -F tid,time,ip,dso`: addresses are
/// offsets in files, those of callers one less than where they return to.
enum Stacks {
    static func write(_ load: Load) {
        let unwinder = Unwinder()
        // V8 maps a part of its program's file once more.
        var biases: [ModuleIndex: [UInt64]] = [:]
        for stretch in load.stretches {
            let time = MonotonicTime(nanoseconds: 0)
            for mapping in unwinder.update(stretch.mappings, at: time) {
                biases[mapping.module, default: []].append(mapping.bias)
            }
            for sample in stretch.samples {
                let callstack = unwinder.unwind(sample.snapshot)
                print(sample.tid, sample.time, callstack.truncation?.label ?? "complete")
                for frame in callstack.frames {
                    let candidates = frame.module.flatMap { biases[$0] } ?? [0]
                    print(place(frame.address.lookup, candidates, stretch.mappings))
                }
                print()
            }
        }
    }

    private static func place(
        _ address: UInt64, _ biases: [UInt64], _ mappings: [CodeMapping]
    ) -> String {
        for bias in biases {
            let place = address &+ bias
            guard let mapping = mappings.first(where: { $0.start <= place && place < $0.end })
            else { continue }
            let offset = place &- mapping.start &+ mapping.fileOffset
            return "\(String(offset, radix: 16)) (\(mapping.path))"
        }
        return "\(String(address, radix: 16)) ([unknown])"
    }
}

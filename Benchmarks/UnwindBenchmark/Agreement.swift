import Architecture
@preconcurrency import Glibc
import ProfileModel
import Unwind

/// The same snapshots by our walks and by libunwind: lines of a class of agreement and how many stacks
/// are of it, and what a frame costs libunwind. Then some of each class on which they do not agree, with all
/// that a debugger needs to be asked of them.
struct Agreement {
    /// Of two stacks of one snapshot.
    fileprivate enum Class: String, CaseIterable {
        case same = "the same, complete"
        case sameEnd = "the same, truncated"
        case libraryEnds = "libunwind ends earlier"
        case ownEnds = "ours ends earlier"
        case differ = "complete, and different"
        case differTruncated = "different before one is truncated"

        var isAgreement: Bool { self == .same || self == .sameEnd }
    }

    fileprivate struct Example {
        var kind: Class
        var snapshot: Snapshot
        var stacks: [Callstack]
        var mappings: [CodeMapping]
        var biases: [ModuleIndex: [UInt64]]
    }

    /// Shown of each class.
    private static let mostExamples = 12

    private let own = Unwinder()
    private let library = Unwinder(engine: .libunwind)
    private let bare: Unwinder
    private var biases: [ModuleIndex: [UInt64]] = [:]
    private var counts: [Class: Int] = [:]
    private var examples: [Class: [Example]] = [:]
    private var complete = 0
    private var saved = 0
    private var frames = 0
    private var taken: Int64 = 0

    init() {
        // Every stack needs the second opinion.
        bare = Unwinder(opinion: SecondOpinion(share: 1))
        bare.hasRules = false
    }

    mutating func write(_ load: Load) {
        for stretch in load.stretches {
            let time = MonotonicTime(nanoseconds: 0)
            for mapping in own.update(stretch.mappings, at: time) {
                biases[mapping.module, default: []].append(mapping.bias)
            }
            for unwinder in [library, bare] { _ = unwinder.update(stretch.mappings, at: time) }
            for sample in stretch.samples { compare(sample.snapshot, stretch.mappings) }
        }
        for kind in Class.allCases { print("\(kind.rawValue): \(counts[kind] ?? 0)") }
        print("libunwind, a frame: \(taken / Int64(max(1, frames))) ns")
        print("complete by ours: \(complete)")
        print("of those complete without our rules: \(saved)")
        for kind in Class.allCases { examples[kind]?.forEach { $0.write(own.modules) } }
    }

    private mutating func compare(_ snapshot: Snapshot, _ mappings: [CodeMapping]) {
        let first = own.unwind(snapshot)
        let start = Self.nanoseconds
        let second = library.unwind(snapshot)
        taken += Self.nanoseconds - start
        frames += second.frames.count
        let kind = Self.classify(first, second)
        counts[kind, default: 0] += 1
        if first.truncation == nil {
            complete += 1
            if bare.unwind(snapshot).truncation == nil { saved += 1 }
        }
        guard !kind.isAgreement else { return }
        keep(
            Example(
                kind: kind, snapshot: snapshot, stacks: [first, second], mappings: mappings,
                biases: biases))
    }

    /// The first ones, and from then on those of leaves that were not seen yet.
    private mutating func keep(_ example: Example) {
        let known = examples[example.kind, default: []]
        guard known.count < Self.mostExamples,
            !known.contains(where: { $0.stacks[0].frames.first == example.stacks[0].frames.first })
        else { return }
        examples[example.kind, default: []].append(example)
    }

    private static func classify(_ first: Callstack, _ second: Callstack) -> Class {
        let length = zip(first.frames, second.frames).prefix { $0 == $1 }.count
        let isPrefix = length == min(first.frames.count, second.frames.count)
        switch (first.truncation == nil, second.truncation == nil) {
        case (true, true):
            return isPrefix && first.frames.count == second.frames.count ? .same : .differ
        case (false, false) where isPrefix && first.frames.count == second.frames.count:
            return .sameEnd
        default:
            guard isPrefix else { return .differTruncated }
            return second.truncation != nil && second.frames.count <= first.frames.count
                ? .libraryEnds : .ownEnds
        }
    }

    private static var nanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

extension Agreement.Example {
    /// Lines of a word and what it says, in the process's own addresses.
    fileprivate func write(_ modules: [Module]) {
        print("example: \(kind.rawValue)")
        let registers = (0..<Registers.count).map { snapshot.registers[$0].map(hex) ?? "0" }
        print("registers: \(registers.joined(separator: " "))")
        let bytes = snapshot.stack.bytes.map { hex($0 >> 4) + hex($0 & 15) }.joined()
        print("stack: \(hex(snapshot.stack.start)) \(bytes)")
        for (name, stack) in zip(["ours", "libunwind"], stacks) {
            let addresses = stack.frames.map { hex(place(of: $0)) }.joined(separator: " ")
            print("\(name): \(stack.truncation == nil ? "complete" : "truncated") \(addresses)")
        }
        for (module, found) in biases {
            for bias in Set(found) {
                print("module: \(hex(bias)) \(modules[module.rawValue].path)")
            }
        }
    }

    private func place(of frame: FrameAddress) -> UInt64 {
        let candidates = frame.module.flatMap { biases[$0] } ?? [0]
        let places = candidates.map { frame.address.value &+ $0 }
        return places.first { place in mappings.contains { $0.start <= place && place < $0.end } }
            ?? places[0]
    }

    private func hex(_ number: some BinaryInteger) -> String { String(number, radix: 16) }
}

import Analysis
import Exports
import Foundation
import MadeRecordings
import ProfileModel
import Report
import Testing

/// For any selection, the exported weights add up to the report's figure.
@Suite struct ExportTests {
    struct Case: CustomTestStringConvertible {
        var seed: UInt64
        var weight: Weight
        var selection: Selection

        var testDescription: String { "\(seed), \(weight), \(selection)" }
    }

    static let cases = (60...61 as ClosedRange<UInt64>).flatMap { seed in
        Weight.allCases.flatMap { weight in
            selections.map { Case(seed: seed, weight: weight, selection: $0) }
        }
    }

    private static let selections = [
        .all, Selection(phases: [3]), Selection(threads: [1, 2]),
        Selection(
            phases: [2, 3],
            windows: TimeWindows([
                .milliseconds(20)..<TimeSpan.milliseconds(33),
                .milliseconds(50)..<TimeSpan.milliseconds(51),
            ])),
        Selection(windows: TimeWindows([])),
    ]

    private func export(_ example: Case, _ format: ExportFormat) -> (Data, Profile) {
        let profile = Profile(RecordingBuilder.random(seed: example.seed))
        var options = ExportOptions()
        options.weight = example.weight
        options.selection = example.selection
        return (Data(Export.render(profile, as: format, options)), profile)
    }

    /// In nanoseconds.
    private func expected(_ example: Case, _ profile: Profile) -> Int64 {
        example.weight.of(profile.times(in: example.selection)).nanoseconds
    }

    @Test(arguments: cases) func speedscope(example: Case) throws {
        let (data, profile) = export(example, .speedscope)
        let file = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let profiles = try #require(file["profiles"] as? [[String: Any]])
        let sums = profiles.map { ($0["weights"] as? [Int64])?.reduce(0, +) ?? -1 }
        #expect(sums.reduce(0, +) == expected(example, profile))
        #expect(sums.allSatisfy { $0 > 0 })
        #expect((file["activeProfileIndex"] as? Int) == (profiles.isEmpty ? nil : 0))
    }

    @Test(arguments: cases) func firefox(example: Case) throws {
        let (data, profile) = export(example, .firefox)
        let file = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let threads = try #require(file["threads"] as? [[String: Any]])
        let samples = threads.compactMap { $0["samples"] as? [String: Any] }
        let weights = samples.flatMap { $0["weight"] as? [Double] ?? [] }
        let cpu = samples.flatMap { $0["threadCPUDelta"] as? [Int64] ?? [] }
        #expect(samples.count == threads.count)
        let sum = weights.reduce(0, +) * 1_000_000
        #expect(abs(sum - Double(expected(example, profile))) < 1)
        // Of the part that is shown at all.
        #expect(cpu.reduce(0, +) <= profile.times(in: example.selection).running.nanoseconds)
        if example.weight == .cpu || example.weight == .wall {
            #expect(cpu.reduce(0, +) == profile.times(in: example.selection).running.nanoseconds)
        }
    }

    @Test(arguments: cases) func perfScript(example: Case) throws {
        let (data, profile) = export(example, .perfScript)
        let event = "\(example.weight.rawValue)-clock:"
        let periods = String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap {
            line -> Int64? in
            let words = line.split(separator: " ")
            guard words.last == event[...], words.count > 2 else { return nil }
            return Int64(words[words.count - 2])
        }
        #expect(periods.reduce(0, +) == expected(example, profile))
    }

    /// The values of the samples (field 2, there field 2) in protobuf's wire format.
    @Test(arguments: cases.filter { $0.weight == .cpu }) func pprof(example: Case) throws {
        let (data, profile) = export(example, .pprof)
        var sums: [Int64] = [0, 0, 0]
        for sample in try Self.fields(data).filter({ $0.number == 2 }) {
            let packed = try #require(try Self.fields(sample.bytes).first { $0.number == 2 })
            var rest = packed.bytes[...]
            for index in sums.indices { sums[index] += try Self.varint(&rest) }
            #expect(rest.isEmpty)
        }
        let times = profile.times(in: example.selection)
        let wanted = [times.running, times.wall, times.blocked].map(\.nanoseconds)
        #expect(sums == wanted)
    }

    private static func fields(_ data: Data) throws -> [(number: Int64, bytes: Data)] {
        var result: [(Int64, Data)] = []
        var rest = data[...]
        while !rest.isEmpty {
            let key = try varint(&rest)
            let value = try varint(&rest)
            guard key & 7 == 2 else { continue }
            try #require(value <= rest.count)
            result.append((key >> 3, Data(rest.prefix(Int(value)))))
            rest = rest.dropFirst(Int(value))
        }
        return result
    }

    private static func varint(_ rest: inout Data.SubSequence) throws -> Int64 {
        var value: Int64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            let byte = try #require(rest.first)
            rest = rest.dropFirst()
            value |= Int64(byte & 0x7f) << Int64(shift)
            if byte < 0x80 { break }
        }
        return value
    }
}

import Architecture
import Glibc
import PerfData
import ProfileModel
import Testing

/// Files that perf made (`record-files`), against what perf itself says of them.
struct RealFileTests {
    @Test(arguments: [
        "dwarf", "compressed", "switches", "switch-records", "build-ids", "frame-pointers", "pipe",
    ])
    func `agrees with perf on every record`(name: String) throws {
        let own = try records(of: Files.path(name + ".data")).compactMap(PerfLine.own)
        let theirs = PerfLine.perfs(try Files.lines(name + ".records"))
        #expect(own.count > 20)
        #expect(own.count == theirs.count)
        for (own, theirs) in zip(own, theirs) { #expect(own == theirs) }
    }

    @Test func `knows what was recorded`() throws {
        let file = try PerfFile(path: Files.path("switches.data"))
        #expect(file.commandLine.last?.hasSuffix("/groundtruth") == true)
        #expect(file.events.map(\.displayName) == ["cpu-clock", "sched:sched_switch"])
        #expect(file.events.map(\.isClock) == [true, false])
        #expect(file.events[0].periodOrFrequency == 49)
        #expect(file.events[0].isFrequency)
        #expect(file.events.allSatisfy { $0.hasCallchains && !$0.hasStacks })
        let dwarf = try PerfFile(path: Files.path("dwarf.data"))
        #expect(dwarf.events.map(\.stackBytes) == [512])
        #expect(dwarf.events.map(\.hasStacks) == [true])
        #expect(file.buildIDs.contains { $0.path.hasSuffix("/groundtruth") })
        #expect(file.buildIDs.allSatisfy { $0.buildID.count == 20 })
        #expect(!file.tracingData.isEmpty)
    }

    @Test func `a pipe's file knows the same`() throws {
        let file = try PerfFile(path: Files.path("pipe.data"))
        #expect(file.events.isEmpty)
        while try file.next() != nil {}
        #expect(file.events.map(\.displayName) == ["cpu-clock"])
        #expect(file.commandLine.contains("--call-graph"))
    }

    @Test func `build ids come with the mappings`() throws {
        let mappings = try records(of: Files.path("build-ids.data")).compactMap { record in
            if case .mapping(let mapping) = record.body { mapping } else { nil }
        }
        let executable = mappings.filter { $0.isExecutable && $0.path.hasSuffix("/threads") }
        #expect(executable.count == 1)
        #expect(executable.allSatisfy { $0.buildID.count == 20 && $0.inode == 0 })
    }

    private func records(of path: String) throws -> [PerfRecord] {
        let file = try PerfFile(path: path)
        var result: [PerfRecord] = []
        while let record = try file.next() { result.append(record) }
        return result
    }
}

/// A record as `perf script -D` has it, without what the file does not tell.
enum PerfLine {
    static func own(_ record: PerfRecord) -> [String]? {
        let time = "\(record.time?.nanoseconds ?? 0)"
        switch record.body {
        case .mapping(let mapping):
            let place = "[\(hex(mapping.start))(\(hex(mapping.end - mapping.start)))"
            let access = mapping.isExecutable ? "x" : "-"
            return [
                "\(time) MMAP \(mapping.pid) \(place) @ \(short(mapping.fileOffset)) \(access) "
                    + mapping.path
            ]
        case .name(let pid, let tid, let name, let isExec):
            return ["\(time) COMM\(isExec ? " exec" : "") \(name):\(pid)/\(tid)"]
        case .fork(let pid, let parent, let tid, let parentThread):
            return ["\(time) FORK(\(pid):\(tid)):(\(parent):\(parentThread))"]
        case .exit(let pid, let tid): return ["\(time) EXIT(\(pid):\(tid))"]
        case .left(_, _, _, let isPushed):
            return ["\(time) SWITCH OUT\(isPushed ? " preempt" : "")"]
        case .arrived: return ["\(time) SWITCH IN"]
        case .sample(let sample): return own(sample, time)
        case .lost, .throttled, .buildID: return nil
        }
    }

    private static func own(_ sample: PerfSample, _ time: String) -> [String] {
        let mode = sample.isKernel ? "0x1" : "0x2"
        var lines = [
            "\(time) SAMPLE(IP, \(mode)): \(sample.pid)/\(sample.tid): \(hex(sample.instruction)) "
                + "period: \(sample.period)"
        ]
        lines += sample.callchain.enumerated().map { "\($0): \(padded($1))" }
        guard let snapshot = sample.snapshot else { return lines }
        for (name, number) in names {
            lines.append("\(name) \(snapshot.registers[number].map(padded) ?? "?")")
        }
        return lines + ["ustack \(snapshot.stack.bytes.count)"]
    }

    /// perf's names of registers, in its order, with DWARF's numbers (System V ABI, figure 3.36).
    private static let names = [
        ("AX", 0), ("BX", 3), ("CX", 2), ("DX", 1), ("SI", 4), ("DI", 5), ("BP", 6), ("SP", 7),
        ("IP", 16), ("R8", 8), ("R9", 9), ("R10", 10), ("R11", 11), ("R12", 12), ("R13", 13),
        ("R14", 14), ("R15", 15),
    ]

    static func perfs(_ lines: [String]) -> [[String]] {
        var result: [[String]] = []
        for line in lines {
            let words = line.split(separator: " ")
            if let start = line.range(of: "PERF_RECORD_") {
                if let text = record(line, start, words) { result.append([text]) }
            } else if !result.isEmpty, let text = detail(words) {
                result[result.count - 1].append(text)
            }
        }
        return result
    }

    private static func record(
        _ line: String, _ name: Range<String.Index>, _ words: [Substring]
    ) -> String? {
        guard let place = words.firstIndex(where: { $0.hasPrefix("PERF_RECORD_") }), place >= 3
        else { return nil }
        let time = words[place - 3]
        let rest = String(line[name.upperBound...])
        if rest.hasPrefix("MMAP") {
            let access = words.last { $0.count == 4 && $0.hasSuffix("p") || $0 == "x" }
            let path = words.last ?? ""
            let pid = words[place + 1].split(separator: "/")[0]
            return "\(time) MMAP \(pid) \(words[place + 2]) @ "
                + "\(words[place + 4].filter { $0 != "]" && $0 != ":" }) "
                + "\(access?.contains("x") == true ? "x" : "-") \(path)"
        }
        if rest.hasPrefix("COMM exec") { return "\(time) COMM exec \(words[place + 2])" }
        if rest.hasPrefix("COMM: ") { return "\(time) COMM \(words[place + 1])" }
        if rest.hasPrefix("FORK") { return "\(time) \(rest)" }
        if rest.hasPrefix("EXIT"), let end = rest.firstIndex(of: ")") {
            return "\(time) \(rest[...end])"
        }
        if rest.hasPrefix("SWITCH") {
            return "\(time) \(rest.split(separator: " ").joined(separator: " "))"
        }
        guard rest.hasPrefix("SAMPLE"), let end = rest.range(of: " addr") else { return nil }
        return "\(time) \(rest[..<end.lowerBound])"
    }

    private static func detail(_ words: [Substring]) -> String? {
        switch words.first {
        case ".....": "\(words[1]) \(words[2].hasPrefix("0x") ? "" : "0x")\(words[2])"
        case "...." where names.contains { $0.0 == words[1] }: "\(words[1]) \(words[2])"
        case "..." where words[1] == "ustack:": "ustack \(words[3].filter(\.isNumber))"
        default: nil
        }
    }

    private static func hex(_ value: UInt64) -> String { "0x" + String(value, radix: 16) }
    private static func short(_ value: UInt64) -> String { value == 0 ? "0" : hex(value) }
    private static func padded(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return "0x" + String(repeating: "0", count: 16 - digits.count) + digits
    }
}

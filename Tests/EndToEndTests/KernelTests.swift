import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The kernel's part of stacks, compared with the kernel's list of functions and with perf.
    @Suite(.requires(Kernel.isVisible, Kernel.reason)) struct KernelFrames {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// The kernel's functions on a stack, outermost first.
        private func kernelPart(_ frames: [String]) -> [String] {
            frames.filter { $0.hasSuffix("_[k]") }.map { String($0.dropLast(4)) }
        }

        /// How much of a function's time is in the kernel's functions that it called.
        private func kernelShare(of function: String, in folded: Folded) -> Double {
            let lines = folded.lines.filter { $0.frames.contains(function) }
            let all = lines.reduce(0) { $0 + $1.count }
            let inside = lines.filter { !kernelPart($0.frames).isEmpty }.reduce(0) { $0 + $1.count }
            return Double(inside) / Double(max(all, 1))
        }

        /// The kernel's frames are the last of a stack, below the function that called it, and are
        /// in the kernel's list.
        private func check(_ folded: Folded) throws {
            let known = try Kernel.functions()
            for line in folded.lines {
                let part = kernelPart(line.frames)
                guard !part.isEmpty else { continue }
                let last = line.frames.suffix(part.count)
                #expect(last.allSatisfy { $0.hasSuffix("_[k]") }, "\(line.frames)")
                for name in part { #expect(known.contains(name), "\(name)") }
            }
            #expect(kernelShare(of: "touch_pages", in: folded) > 0.5)
            #expect(kernelShare(of: "read_zeros", in: folded) > 0.5)
        }

        @Test func ofAChild() throws {
            let recorded = try Firstlight.record(
                ["sh", "-c", "'\(try Setup.fixture("kernelwork"))'; true"], in: scratch,
                options: ["--quiet", "--follow-children"])
            #expect(recorded.finished.output == "done\n")
            try check(try recorded.folded("--no-phase", "--no-thread"))
            let report = try recorded.json()
            #expect(report.launch.mostStacksAreWhole, "\(report.launch)")
        }

        /// The fixture's first thread computes too little to get signals.
        @Test func ofTheProgramItself() throws {
            let recorded = try Firstlight.record(
                [try Setup.fixture("kernelwork")], in: scratch)
            #expect(recorded.finished.output == "done\n")
            let folded = try recorded.folded("--no-phase", "--no-thread")
            let known = try Kernel.functions()
            let names = folded.lines.flatMap { kernelPart($0.frames) }
            #expect(!names.isEmpty)
            #expect(names.allSatisfy { known.contains($0) })
        }

        private func withoutInterrupts(_ frames: [String]) -> [String] {
            Array(
                frames.prefix {
                    !$0.hasPrefix("asm_sysvec_") && !$0.hasPrefix("sysvec_")
                        && !$0.hasPrefix("asm_common_interrupt")
                        && !$0.hasPrefix("asm_exc_nmi") && !$0.contains("perf_event_")
                })
        }

        @Test(.needs("perf"), arguments: ["dwarf", "fp"])
        func importedOnesAreThoseOfPerf(callGraph: String) throws {
            let data = scratch("perf.data")
            let recording = try Command([
                "perf", "record", "-q", "-F", "999", "-e", "cpu-clock", "--call-graph", callGraph,
                "-o", data, "--", try Setup.fixture("kernelwork"),
            ]).run()
            #expect(recording.status == 0, "\(recording.error)")
            let theirs = try perfStacks(data)
            let finished = try Firstlight.run("import", data, "-o", scratch("recording"), "--quiet")
            #expect(finished.status == 0 && finished.error == "", "\(finished.error)")
            let folded = try Recorded(path: scratch("recording"), finished: finished)
                .folded("--no-phase", "--no-thread")
            let ours = folded.lines.map { kernelPart($0.frames) }.filter { !$0.isEmpty }
            #expect(theirs.count > 20)
            // Every frame of every sample is compared. Of several names for one address, any will do.
            let canonical = try Kernel.canonicalNames()
            // An interrupt's time counts for the interrupted function.
            func compared(_ stacks: [[String]]) -> Set<[String]> {
                Set(stacks.map { withoutInterrupts($0).map { canonical[$0] ?? $0 } })
                    .subtracting([[]])
            }
            let (own, other) = (compared(ours), compared(theirs))
            #expect(other.subtracting(own).isEmpty, "perf alone")
            #expect(own.subtracting(other).isEmpty, "we alone")
            // Without DWARF the program's own part is unknown: program and C library have no frame
            // pointers.
            guard callGraph == "dwarf" else { return }
            #expect(kernelShare(of: "touch_pages", in: folded) > 0.5)
            #expect(kernelShare(of: "read_zeros", in: folded) > 0.5)
        }

        /// The kernel's part of each of perf's samples, outermost first.
        private func perfStacks(_ data: String) throws -> [[String]] {
            let script = try Command([
                "perf", "script", "-i", data, "--no-inline", "-F", "comm,ip,sym",
            ]).run()
            #expect(script.status == 0, "\(script.error)")
            let samples = script.output.components(separatedBy: "\n\n")
            return samples.map(kernelFunctions).filter { !$0.isEmpty }
        }

        /// - Parameter sample: a line for each frame, innermost first, with address and name.
        private func kernelFunctions(_ sample: String) -> [String] {
            var names: [String] = []
            for line in sample.split(separator: "\n") {
                let words = line.split(whereSeparator: \.isWhitespace)
                guard words.count >= 2, words[0].count == 16, words[0].hasPrefix("ffff") else {
                    continue
                }
                names.append(String(words[1]))
            }
            return names.reversed()
        }
    }
}

/// The running kernel.
private enum Kernel {
    static let reason: Comment = """
        the kernel hides its addresses (kernel.kptr_restrict), or its samples \
        (kernel.perf_event_paranoid)
        """

    /// Whether this user may see the addresses of its functions, and sample them.
    static var isVisible: Bool {
        guard let file = FileHandle(forReadingAtPath: "/proc/kallsyms"),
            let start = try? file.read(upToCount: 16)
        else { return false }
        let text = try? String(
            contentsOfFile: "/proc/sys/kernel/perf_event_paranoid", encoding: .utf8)
        let level = text.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? 4
        return start.contains { $0 != UInt8(ascii: "0") } && (Setup.isRoot || level <= 1)
    }

    static func functions() throws -> Set<String> { Set(try symbols().map(\.name)) }

    /// For each function that shares its address with others (`memcpy`, `__pi_memcpy`): the first of their
    /// names.
    static func canonicalNames() throws -> [String: String] {
        var result: [String: String] = [:]
        for (_, group) in Dictionary(grouping: try symbols(), by: \.address) where group.count > 1 {
            let names = group.map(\.name).sorted()
            for name in names { result[name] = names[0] }
        }
        return result
    }

    private static func symbols() throws -> [(address: Substring, name: String)] {
        let list = try Command(["cat", "/proc/kallsyms"]).run().output
        return list.split(separator: "\n").compactMap { line in
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            return words.count >= 3 ? (words[0], String(words[2])) : nil
        }
    }
}

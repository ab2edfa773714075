import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `firstlight export`, read by other projects' readers.
    @Suite struct Exports {
        private let scratch: Scratch
        private let recorded: Recorded
        private let report: LaunchReport

        init() throws {
            scratch = try Scratch()
            recorded = try Firstlight.record([try Setup.fixture("groundtruth")], in: scratch)
            report = try recorded.json()
        }

        private func export(_ format: String, _ options: String...) throws -> String {
            let path = scratch("export.\(format)")
            let text = try recorded.text("export", ["--format", format, "-o", path] + options)
            #expect(text == "")
            return path
        }

        private func contents(_ path: String) throws -> String {
            String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        }

        /// Go's pprof prints each sample's values and labels.
        @Test(.needs("go")) func pprof() throws {
            let path = try export("pprof")
            let finished = try Command(["go", "tool", "pprof", "-raw", path]).run()
            #expect(finished.status == 0, "\(finished.error)")
            #expect(
                finished.output.contains(
                    "cpu/nanoseconds[dflt] wall/nanoseconds blocked/nanoseconds"))
            var sums: [Int64] = [0, 0, 0]
            for line in finished.output.split(separator: "\n") {
                guard let match = line.prefixMatch(of: #/ *(\d+) +(\d+) +(\d+): \d/#) else {
                    continue
                }
                for (index, text) in [match.1, match.2, match.3].enumerated() {
                    sums[index] += Int64(text) ?? 0
                }
            }
            let wall = report.threads.reduce(0) { $0 + $1.wallNs }
            let blocked = report.threads.reduce(0) { $0 + $1.blockedNs }
            #expect(sums == [report.launch.cpuNs, wall, blocked])
            #expect(finished.output.contains("phase:[Main]") || report.launch.isUndivided)
        }

        @Test(.needs("xmllint")) func flameGraph() throws {
            let path = try export("svg", "--weight", "wall")
            let finished = try Command(["xmllint", "--noout", path]).run()
            #expect(finished.status == 0, "\(finished.error)")
            let text = try contents(path)
            #expect(text.contains("burn_alpha"))
            #expect(text.contains("known_sleep") || report.launch.isMuchMissed)
        }

        /// The format that stackcollapse-perf.pl reads: head lines, frames, empty lines.
        @Test(.needs("perl")) func perfScript() throws {
            let path = try export("perf-script")
            let reader = """
                while (<>) {
                    if (/^(\\S.+?)\\s+(\\d+)\\/*(\\d+)*\\s+.*?:\\s+(\\d+)\\s+(\\S+):/) { $sum += $4; }
                    elsif (/^\\s*(\\w+)\\s*(.+) \\((\\S*)\\)/) { $frames++; }
                    elsif (/\\S/) { die "not understood: $_"; }
                }
                print "$sum $frames";
                """
            let finished = try Command(["perl", "-e", reader, path]).run()
            let words = finished.output.split(separator: " ").compactMap { Int64($0) }
            #expect(finished.status == 0 && words.first == report.launch.cpuNs, "\(finished.error)")
            #expect(words.count == 2 && words[1] > words[0] / 1_000_000_000)
        }

        @Test(arguments: ["speedscope", "firefox", "chrome"]) func json(format: String) throws {
            let text = try contents(try export(format))
            let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
            #expect(value is [String: Any])
            #expect(text.contains("groundtruth"))
        }

        @Test func foldedIsWhatFoldPrints() throws {
            #expect(try contents(try export("folded")) == recorded.text("fold"))
            #expect(try recorded.text("export", ["--format", "folded"]) == recorded.text("fold"))
        }

        @Test func unwritableOutputIsReported() throws {
            let path = scratch("no/such/folder")
            let finished = try Firstlight.command([
                "export", recorded.path, "--format", "svg", "-o", path,
            ]).run()
            #expect(finished.status == 1)
            #expect(finished.error.hasPrefix("firstlight: cannot write \(path): "))
            #expect(finished.error.split(separator: "\n").count == 1)
        }

        @Test func aFormatMustBeNamed() throws {
            let finished = try Firstlight.command(["export", recorded.path]).run()
            #expect(finished.status == 2)
            #expect(finished.error.contains("--format is missing: one of folded, svg"))
        }
    }
}

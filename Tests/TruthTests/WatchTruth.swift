import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension Measured {
    /// Every launch of a program on this machine, as stored by `watch`. Programs that others launch
    /// meanwhile have other names.
    @Suite(.needsRoot) struct Watch {
        private let scratch: Scratch
        private let program: String
        private let name: String

        init() throws {
            scratch = try Scratch()
            name = "nap-\(UInt32.random(in: 0 ... .max))"
            program = scratch(name)
            let sleep = try #require(Tool.find("sleep"))
            try FileManager.default.copyItem(atPath: sleep, toPath: program)
        }

        private var folder: String { scratch("kept") }

        private func report(_ file: String) throws -> MeasureReport {
            let finished = try Firstlight.run("report", "--format", "json", file)
            return try MeasureReport(finished.output)
        }

        /// All stored launches, by their files.
        private func kept() throws -> [String: [MeasureReport.Launch]] {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            var found: [String: [MeasureReport.Launch]] = [:]
            for name in names where name.hasSuffix(".firstlight") {
                let file = folder + "/" + name
                found[file] = try report(file).launches
            }
            return found
        }

        @Test func launchesAreSeenOnceAndNearTheTruth() throws {
            try Truth.of("watch") { try launchesAndTheTruth(&$0) }
        }

        private func launchesAndTheTruth(_ figures: inout Truth) throws {
            let watcher = try Watcher([name], in: folder)
            var truths: [Watcher.Kept: Int64] = [:]
            for _ in 0..<20 {
                let begin = DispatchTime.now().uptimeNanoseconds
                let child = try Command([program, "0.05"]).start()
                _ = try child.finish()
                let truth = Int64(DispatchTime.now().uptimeNanoseconds - begin)
                let told = try watcher.next()
                truths[told] = truth
            }
            _ = try watcher.end()
            let whole = try report(try #require(truths.keys.first?.file))
            for (number, (told, truth)) in truths.enumerated() {
                let launch = try #require(whole.launches.first { $0.startNs == told.start })
                // The time that this process needs to start it and to notice its end is not the
                // program's.
                figures.check(
                    "launch \(number)", launch.wallNs, truth: truth, tolerance: 20_000_000)
            }
        }

        /// Both see the same launches. `measure` subtracts the time for which it holds the program.
        @Test func agreesWithMeasure() throws {
            try Truth.of("watch and measure") { figures in
                try? FileManager.default.removeItem(atPath: folder)
                let watcher = try Watcher([name], in: folder)
                let output = scratch("measured-\(UInt32.random(in: 0 ... .max))")
                let finished = try Firstlight.run(
                    "measure", "--quiet", "-n", "10", "-o", output, program, "0.05")
                try #require(finished.status == 0, "\(finished)")
                _ = try watcher.end()
                let measured = try report(output).launches
                let seen = try #require(try kept().values.first)
                try #require(seen.count == 11 && measured.count == 11)
                // From its fork on, which is where `watch` begins, the first process waits until
                // `measure` can count the processes that it starts.
                for (number, (own, other)) in zip(measured, seen).enumerated().dropFirst() {
                    let truth = own.wallNs + own.heldNs
                    figures.check(
                        "launch \(number)", other.wallNs, truth: truth, tolerance: 2_000_000)
                }
            }
        }
    }
}

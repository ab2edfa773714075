import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Every launch of a program on this machine, as stored by `watch`. Programs that others launch
    /// meanwhile have other names.
    @Suite(.needsRoot) struct Watch {
        private let scratch: Scratch
        private let program: String
        private let name: String

        init() throws {
            scratch = try Scratch()
            // Tests run beside each other.
            name = "nap-\(UInt32.random(in: 0 ... .max))"
            program = scratch(name)
            let sleep = try #require(Tool.find("sleep"))
            try Scratch.copyItem(atPath: sleep, toPath: program)
        }

        private var folder: String { scratch("kept") }

        private func report(_ file: String) throws -> MeasureReport {
            let finished = try Firstlight.run("report", "--format", "json", file)
            #expect(finished.status == 0 && finished.error == "", "\(finished.error)")
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

        @Test func launchesAreSeenOnce() throws {
            let watcher = try Watcher([name], in: folder)
            var truths: [Watcher.Kept: Int64] = [:]
            for _ in 0..<20 {
                let begin = DispatchTime.now().uptimeNanoseconds
                let child = try Command([program, "0.05"]).start()
                let pid = child.pid
                _ = try child.finish()
                let truth = Int64(DispatchTime.now().uptimeNanoseconds - begin)
                let told = try watcher.next()
                #expect(told.pid == pid)
                truths[told] = truth
            }
            let end = try watcher.end()
            #expect(
                end.status == 0 && end.error == "firstlight: 20 launches kept\n", "\(end.error)")
            #expect(try kept().count == 1 && truths.count == 20)
            let whole = try report(try #require(truths.keys.first?.file))
            #expect(whole.measurement.ending == "complete" && whole.launches.count == 20)
            for (told, truth) in truths {
                let launch = try #require(whole.launches.first { $0.startNs == told.start })
                #expect(launch.status == 0 && 50_000_000...truth ~= launch.wallNs)
            }
        }

        /// Both see the same launches.
        @Test func seesTheLaunchesOfMeasure() throws {
            try? FileManager.default.removeItem(atPath: folder)
            let watcher = try Watcher([name], in: folder)
            let output = scratch("measured-\(UInt32.random(in: 0 ... .max))")
            let finished = try Firstlight.run(
                "measure", "--quiet", "-n", "10", "-o", output, program, "0.05")
            #expect(finished.status == 0)
            #expect(try watcher.end().status == 0)
            let measured = try report(output).launches
            let seen = try #require(try kept().values.first)
            #expect(seen.count == 11 && measured.count == 11)
        }

        @Test func severalAtOnceAndByOneShell() throws {
            let watcher = try Watcher([name], in: folder)
            let line = "for i in 1 2 3 4 5; do \(program) 0.01 & done; wait; exec \(program) 0"
            let finished = try Command(["sh", "-c", line]).run()
            #expect(finished.status == 0)
            let told = try (0..<6).map { _ in try watcher.next() }
            #expect(Set(told).count == 6)
            _ = try watcher.end()
            #expect(try kept().values.map(\.count).reduce(0, +) == 6)
        }

        /// Every reported launch is stored, exactly once; the program behaves as without recording.
        @Test func killedAndStartedAgain() throws {
            let loop = try Command(["sh", "-c", "while :; do \(program) 0 || exit; done"]).start()
            defer { kill(-loop.pid, SIGKILL) }
            var told: [Watcher.Kept] = []
            for round in 0..<20 {
                let watcher = try Watcher([name], in: folder)
                for _ in 0...(round * 7 % 10) { told.append(try watcher.next()) }
                told += try watcher.kill()
            }
            #expect(!loop.hasEnded)
            let files = try kept()
            for (file, launches) in files {
                #expect(Set(launches.map(\.startNs)).count == launches.count, "\(file)")
            }
            #expect(Set(told).count == told.count)
            for launch in told {
                let found = files[launch.file]?.count { $0.startNs == launch.start } ?? 0
                #expect(found == 1, "\(launch)")
            }
        }

        @Test func hangupBeginsNewFiles() throws {
            let watcher = try Watcher([name], in: folder)
            _ = try Command([program, "0"]).run()
            let first = try watcher.next()
            watcher.signal(SIGHUP)
            try Proc.waitUntil("the file is finished") {
                // Until then only the watch can use it.
                (try? Firstlight.run("report", first.file).status) == 0
            }
            _ = try Command([program, "0"]).run()
            #expect(try watcher.next().file != first.file)
            #expect(try watcher.end().status == 0)
        }

        @Test func oneLaunchIsRecordedWithStacks() throws {
            let watcher = try Watcher([name], in: folder, options: ["--profile-every", "2"])
            for _ in 0..<2 {
                _ = try Command([program, "1"]).run()
                _ = try watcher.next()
            }
            let end = try watcher.end()
            #expect(end.error.contains("1 recorded with stacks"), "\(end.error)")
        }

        @Test func figuresAreWritten() throws {
            let options = ["--textfile", scratch.folder, "--push-every", "100ms"]
            let watcher = try Watcher([name], in: folder, options: options)
            _ = try Command([program, "0"]).run()
            _ = try watcher.next()
            try Proc.waitUntil("the figures") { scratch.has("firstlight-watch.prom") }
            let text = try #require(scratch.contents(of: "firstlight-watch.prom"))
            #expect(text.contains("firstlight_launch_seconds_count{program=\"\(name)\""))
            _ = try watcher.end()
        }

        // MARK: What cannot be

        @Test func aFolderIsOneWatchs() throws {
            let watcher = try Watcher([name], in: folder)
            let second = try Firstlight.run("watch", "-o", folder, name)
            #expect(second.isRefusal(1, mentioning: "another firstlight watch"))
            _ = try watcher.end()
        }

        @Test(.needs("setpriv")) func withoutPrivilegesItSaysSo() throws {
            chmod(scratch.folder, 0o777)
            let words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            // Where the build is, others may not look.
            let copy = scratch("firstlight")
            try Scratch.copyItem(atPath: try Setup.path(.firstlight), toPath: copy)
            let command = Command(words + [copy, "watch", "-o", folder, name])
            #expect(try command.run().isRefusal(1, mentioning: "CAP_NET_ADMIN", "root"))
        }
    }
}

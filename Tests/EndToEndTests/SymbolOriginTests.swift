import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Names and lines that do not come from the modules' files.
    @Suite struct SymbolOrigins {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Functions of JavaScript, which node lists in `/tmp/perf-PID.map`.
        @Test(.needs("node")) func generatedCode() throws {
            try scratch.write(
                """
                function countUpFirstlight(n) {
                    let sum = 0;
                    for (let i = 0; i < n; i++) sum = (sum + i * i) % 1000003;
                    return sum;
                }
                let total = 0;
                for (let i = 0; i < 100; i++) total += countUpFirstlight(1e6);
                console.log(total);

                """, to: "count.js")
            let recorded = try Firstlight.record(
                // Without this option node leaves a log in the working directory.
                [
                    "node", "--perf-basic-prof", "--no-logfile-per-isolate",
                    "--logfile=\(scratch("v8.log"))", scratch("count.js"),
                ], in: scratch)
            let pid = try recorded.json().program.pid
            defer { unlink("/tmp/perf-\(pid).map") }
            let folded = try recorded.text("fold")
            #expect(folded.contains("countUpFirstlight (count.js:1)_[j]"))
        }

        /// A library is deleted while its code runs: the recorder has kept it open.
        @Test(.needs("python3")) func deletedFiles() throws {
            let copy = scratch("victim.so")
            let program = """
                import ctypes, os, shutil, sys
                shutil.copy(sys.argv[1], sys.argv[2])
                work = ctypes.CDLL(sys.argv[2]).plugin_work
                work.argtypes = [ctypes.c_uint64]
                for i in range(60): work(i)
                os.remove(sys.argv[2])
                for i in range(60): work(i)
                """
            let recorded = try Firstlight.record(
                ["python3", "-c", program, try Setup.fixture("plugin.so"), copy], in: scratch)
            #expect(!scratch.has("victim.so"))
            let functions = try recorded.json().functions
            #expect(functions.contains { $0.function == "plugin_work" })
        }

        /// A file that exists only in the program's own mount namespace, as in a container.
        @Test(.needsRoot, .requires(Self.canUnshare, "mount namespaces are not allowed here"))
        func otherMounts() throws {
            let folder = scratch("hidden")
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false)
            let steps = """
                mount -t tmpfs none "$1" && cp "$2" "$1/program" && exec "$1/program"
                """
            let recorded = try Firstlight.record(
                [
                    "unshare", "--mount", "sh", "-c", steps, "sh", folder,
                    try Setup.fixture("groundtruth"),
                ], in: scratch)
            #expect(!scratch.has("hidden/program"))
            let report = try recorded.json()
            #expect(report.functions.contains { $0.function.hasPrefix("known_") })
            let module = report.modules.first { $0.path == folder + "/program" }
            #expect(module?.hasDebugInfo == true)
        }

        private static var canUnshare: Bool {
            let command = Command(["unshare", "--mount", "true"])
            return (try? command.run().status) == 0
        }

        /// A server of debug information that answers as debuginfod does: files by build id.
        @Test(.needs("python3"), .needs("objcopy"), .needs("readelf"))
        func fetchedFiles() throws {
            let program = scratch("program")
            let steps = """
                set -e
                cp "$1" "$2"
                id=$(readelf -n "$2" | sed -n 's/.*Build ID: //p')
                mkdir -p "served/buildid/$id"
                objcopy --only-keep-debug "$2" "served/buildid/$id/debuginfo"
                objcopy --strip-all "$2"
                """
            var prepare = Command(
                ["sh", "-c", steps, "sh", try Setup.fixture("groundtruth"), program])
            prepare.directory = scratch.folder
            #expect(try prepare.run().status == 0)
            func record(_ server: String) throws -> LaunchReport {
                try Firstlight.record(
                    [program], in: scratch,
                    adding: [
                        "DEBUGINFOD_URLS": server, "DEBUGINFOD_TIMEOUT": "5",
                        "DEBUGINFOD_CACHE_PATH": scratch("cache"),
                    ]
                ).json()
            }
            func module(_ report: LaunchReport) throws -> LaunchReport.Module {
                try #require(report.modules.first { $0.path == program })
            }
            // No server listens there: the recording is made all the same.
            #expect(try !module(record("http://127.0.0.1:9/")).hasDebugInfo)
            try withServer { server in
                let report = try record(server)
                #expect(try module(report).debugInfoOrigin == "debuginfod")
                #expect(report.functions.contains { $0.function.hasPrefix("known_") })
            }
        }

        /// The recorder is asked to end while it waits for a server, or while functions are looked
        /// up. The recording can be read, and `report` looks the functions up.
        @Test(.needs("python3"), .needs("strip")) func lookingUpIsCalledOff() throws {
            let program = scratch("program")
            let strip = Command(["strip", "-o", program, try Setup.fixture("groundtruth")])
            #expect(try strip.run().status == 0)
            let server = """
                import socket
                server = socket.create_server(("127.0.0.1", 0))
                print(server.getsockname()[1], flush=True)
                connection = server.accept()
                print("asked", flush=True)
                server.accept()
                """
            let output = try Channel()
            var command = Command(["python3", "-c", server])
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            let port = try #require(try output.line())
            let alone = try Command([program]).run()
            let recorder = try Firstlight.recording(
                [program], to: scratch("recording"),
                adding: [
                    "DEBUGINFOD_URLS": "http://127.0.0.1:\(port)/",
                    "DEBUGINFOD_CACHE_PATH": scratch("cache"),
                ]
            ).start()
            #expect(try output.line() == "asked")
            kill(recorder.pid, SIGINT)
            let finished = try recorder.finish()
            #expect(finished.end == alone.end && finished.output == alone.output)
            let line = try #require(finished.complaints.last)
            #expect(finished.complaints.count == 1, "\(finished.error)")
            #expect(
                line.hasPrefix("firstlight: interrupted: functions of ")
                    && line.hasSuffix("were not looked up; firstlight report looks them up"))
            let report = try Recorded(path: scratch("recording"), finished: finished).json()
            #expect(report.brokenSums.isEmpty)
            #expect(report.functions.contains { $0.function.hasPrefix("__libc_start") })
            withExtendedLifetime(child) {}
        }

        /// Runs a server for the folder `served`, reachable only from this machine.
        private func withServer(_ body: (String) throws -> Void) throws {
            let output = try Channel()
            var command = Command([
                "python3", "-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory",
                scratch("served"), "0",
            ])
            command.output = output.writer
            let server = try command.start()
            output.closeWriter()
            // "Serving HTTP on 127.0.0.1 port 41234 (http://127.0.0.1:41234/) ..."
            let words = try #require(try output.line()).split(separator: " ")
            let port = try #require(words.compactMap { Int($0) }.first)
            // It is killed when the object is released.
            defer { withExtendedLifetime(server) {} }
            try body("http://127.0.0.1:\(port)/")
        }
    }
}

import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The demonstration's first flaw: a library with a long initialiser, which the launch does not
    /// use afterwards.
    @Suite struct LibraryUse {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private struct Report: Decodable {
            struct Library: Decodable {
                var path: String
                var used: Bool?
            }

            var launch: LaunchReport.Launch
            var libraries: [Library]

            func used(_ name: String) -> Bool? {
                libraries.first { $0.path.contains("/" + name) }?.used
            }
        }

        /// The linker knows the library by the path in the request.
        @Test(arguments: ["signal", "ptrace"])
        func aLibraryByARelativePath(capture: String) throws {
            let library = try Setup.fixture("held.so")
            var command = try Firstlight.recording(
                [try Setup.fixture("spin")], to: scratch("recording"),
                options: ["--quiet", "--capture", capture], adding: ["LD_PRELOAD": "./held.so"])
            command.directory = String(library.dropLast("/held.so".count))
            let finished = try command.run()
            #expect(finished.status == 0, "\(finished.error)")
            let recorded = Recorded(path: scratch("recording"), finished: finished)
            let json = try recorded.text("report", ["--format", "json"])
            let report = try JSONDecoder().decode(Report.self, from: Data(json.utf8))
            let found = report.libraries.map(\.path)
            #expect(found.contains { $0.hasPrefix("/") && $0.hasSuffix("/held.so") }, "\(found)")
        }

        @Test func unusedLibrariesAreNamed() throws {
            let recorded = try Firstlight.record([try Setup.star("starsearcher")], in: scratch)
            let json = try recorded.text("report", ["--format", "json"])
            let report = try JSONDecoder().decode(Report.self, from: Data(json.utf8))
            // Where most samples are missing, no library may be called unused.
            let isKnown = !report.launch.isMuchMissed
            #expect(report.used("libsuperlog.so") == (isKnown ? false : nil))
            #expect(report.used("libsqlite3.so") == true)
            #expect(report.used("libc.so") == true)

            let libraries = try recorded.text("report", ["--view", "libraries"])
            let unused = libraries.split(separator: "\n").drop { !$0.contains("NOT USED") }
            #expect(
                unused.contains { $0.contains("libsuperlog.so") } == isKnown, "\(libraries)")
            #expect(!unused.contains { $0.contains("libsqlite3") }, "\(libraries)")

            // The heaviest initialiser comes first, with its stacks below.
            let text = try recorded.text("report", ["--view", "initializers"], columns: 200)
            let lines = text.split(separator: "\n").drop { !$0.contains("INITIALISER") }
            #expect(lines.dropFirst().first?.contains("libsuperlog.so") == true, "\(text)")
            #expect(lines.contains { $0.contains("SuperfastLogger::warmUp") }, "\(text)")
        }
    }
}

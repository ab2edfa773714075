import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// `report --format html` and `firstlight view`. The page's content is tested in a browser
    /// (`Tests/Browser`).
    @Suite struct Pages {
        private let scratch: Scratch
        private let recorded: Recorded

        init() throws {
            scratch = try Scratch()
            recorded = try Firstlight.record(["/bin/true"], in: scratch)
            mkdir(scratch("cache"), 0o700)
        }

        /// `view` with a browser that notes its argument.
        private func view(_ browser: String) throws -> Finished {
            try Firstlight.command(
                ["view", recorded.path],
                adding: ["FIRSTLIGHT_CACHE": scratch("cache"), "BROWSER": browser]
            ).run()
        }

        @Test func pageGoesToStandardOutputOrToAFile() throws {
            let printed = try recorded.text("report", ["--format", "html"])
            #expect(printed.hasPrefix("<!DOCTYPE html>"))
            #expect(printed.hasSuffix("</html>\n"))
            let path = scratch("page.html")
            #expect(try recorded.text("report", ["--format", "html", "-o", path]) == "")
            #expect(scratch.contents(of: "page.html") == printed)
        }

        @Test func textGoesToAFileToo() throws {
            let printed = try recorded.text("report", ["--full"])
            #expect(try recorded.text("report", ["--full", "-o", scratch("report.txt")]) == "")
            #expect(scratch.contents(of: "report.txt") == printed)
        }

        @Test func viewOpensAPageOfTheCache() throws {
            try scratch.write(
                "#!/bin/sh\necho \"$@\" > \(scratch("opened"))\n", to: "browser", mode: 0o755)
            let finished = try view(scratch("browser"))
            #expect(finished.status == 0, "\(finished.error)")
            let path = finished.output.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(path.hasPrefix(scratch("cache") + "/view-"))
            #expect(scratch.contents(of: "opened") == finished.output)
            let page = FileManager.default.contents(atPath: path) ?? Data()
            #expect(page.starts(with: Data("<!DOCTYPE html>".utf8)))
            // Viewing it again makes no other file.
            #expect(try view(scratch("browser")).output == finished.output)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: scratch("cache")).count == 1)
        }

        @Test func withoutABrowserThePageIsStillThere() throws {
            for (browser, problem) in [
                (scratch("missing"), "cannot be started: No such file or directory"),
                ("false", "failed"),
            ] {
                let finished = try view(browser)
                #expect(finished.status == 1)
                #expect(finished.error.contains("\(browser) \(problem)"))
                #expect(finished.output.hasSuffix(".html\n"))
            }
        }

        @Test func withoutACacheItSaysWhatToDo() throws {
            let finished = try Firstlight.command(
                ["view", recorded.path], adding: ["FIRSTLIGHT_CACHE": "", "BROWSER": "true"]
            ).run()
            #expect(finished.status == 1)
            #expect(finished.error.contains("report --format html -o FILE"))
        }

        /// A source file that was changed after the recording has other lines now.
        @Test(.needs("gcc")) func sourceIsEmbeddedUnlessItChanged() throws {
            let text = """
                #include <time.h>
                int main(void) { /* the line */
                    struct timespec now;
                    do { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); }  /* the loop */
                    while (now.tv_nsec < 100000000);
                    return 0;
                }
                """
            try scratch.write(text, to: "program.c")
            let built = try Command(
                ["gcc", "-g", "-o", scratch("program"), scratch("program.c")]
            ).run()
            #expect(built.status == 0, "\(built.error)")
            let recorded = try Firstlight.record([scratch("program")], in: scratch)
            var root = scratch.folder
            func embedded() throws -> Finished {
                try Firstlight.run(
                    "report", "--format", "html", "--embed-source", "--source-root", root,
                    recorded.path)
            }
            func lines() throws -> Int {
                let plain = try recorded.text("report", ["--format", "html"]).utf8.count
                let with = try embedded()
                #expect(with.error.contains("--source-root"))
                return with.output.utf8.count - plain
            }
            #expect(try lines() > 0)
            // Only below the folder that the user chose.
            try FileManager.default.createDirectory(
                atPath: scratch("other"), withIntermediateDirectories: false)
            root = scratch("other")
            #expect(try lines() == 0)
            root = scratch.folder
            // Only source code, whatever the recording names: a file with such a name may be a
            // link.
            rename(scratch("program.c"), scratch("id_rsa"))
            #expect(symlink("id_rsa", scratch("program.c")) == 0)
            #expect(try lines() == 0)
            unlink(scratch("program.c"))
            rename(scratch("id_rsa"), scratch("program.c"))
            #expect(try lines() > 0)
            var times = [timespec(), timespec()]
            clock_gettime(CLOCK_REALTIME, &times[0])
            times[0].tv_sec += 3600
            times[1] = times[0]
            utimensat(AT_FDCWD, scratch("program.c"), times, 0)
            #expect(try lines() == 0)
        }
    }
}

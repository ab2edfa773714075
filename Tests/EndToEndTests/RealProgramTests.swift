import EndToEndSupport
import TestSupport
import Testing

extension EndToEnd {
    /// Programs that were not made for these tests.
    @Suite struct RealPrograms {
        private static let dynamic = ["Dynamic linking", "Static initialisers", "Main"]
        /// With fewer slices, shares of them mean nothing.
        private static let enough = 300

        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Records the program until there are enough slices, or twelve times. Expects its output
        /// and end to be as without recording, and its stacks to be complete.
        private func check(
            _ program: [String], phases: [String], startingWith first: [String] = [],
            truncated allowed: Double = 0.02
        ) throws {
            let alone = try Command(program).run()
            let path = scratch("recording")
            var (slices, truncated) = (0, 0)
            for _ in 1...12 where slices < Self.enough {
                let recorded = try Firstlight.recording(program, to: path).run()
                #expect(recorded == alone)
                let report = try Recorded(path: path, finished: recorded).json()
                #expect(report.program.exitStatus == alone.status)
                let names = report.wholePhases.map(\.name)
                if report.launch.isUndivided {
                    #expect(names.first == "Process creation", "\(names)")
                } else {
                    try #require(names.starts(with: ["Process creation"] + first), "\(names)")
                    #expect(names.suffix(phases.count) == phases[...], "\(names)")
                    #expect(
                        names.dropFirst().dropLast(phases.count).allSatisfy(isWrapper), "\(names)")
                }
                slices += report.launch.slices
                truncated += report.launch.truncatedStacks
            }
            #expect(slices > 0)
            // A busy machine truncates some.
            #expect(
                Double(truncated) <= max(3, Double(slices) * max(0.5, allowed)),
                "\(truncated) of \(slices) stacks are truncated")
        }

        private func isWrapper(_ phase: String) -> Bool { phase.hasPrefix("Wrapper: ") }

        @Test(.needs("python3")) func python() throws {
            try check(
                ["python3", "-c", "import asyncio, json, sqlite3; print('done')"],
                phases: Self.dynamic)
        }

        @Test(.needs("git")) func gitLog() throws {
            let repository = scratch("repository")
            #expect(try Command(["git", "init", "-q", repository]).run().status == 0)
            var fill = Command(["git", "-C", repository, "fast-import", "--quiet"])
            fill.input = .text(Self.history(of: 3000))
            #expect(try fill.run().status == 0)
            try check(["git", "-C", repository, "log", "--stat", "main"], phases: Self.dynamic)
        }

        private static func history(of count: Int) -> String {
            (1...count).map { number in
                let file = "number \(number)\n"
                let message = "Change \(number)"
                return """
                    commit refs/heads/main
                    committer Test <test@example.org> \(1_600_000_000 + number) +0000
                    data \(message.utf8.count)
                    \(message)
                    M 100644 inline file
                    data \(file.utf8.count)
                    \(file)

                    """
            }.joined()
        }

        /// gdb waits for a shell in vfork, where its registers cannot be read, in two of some 70
        /// slices; and it has threads that live for 0.1 ms.
        @Test(.needs("gdb")) func gdb() throws {
            try check(["gdb", "--version"], phases: Self.dynamic, truncated: 0.05)
        }

        @Test(.needs("perl")) func perl() throws {
            let script = "my %h; $h{$_ % 977} .= $_ for 1..400000; print scalar(keys %h), \"\\n\""
            try check(["perl", "-e", script], phases: Self.dynamic)
        }

        /// While Python searches its own files (`getpath`), its stack is larger than the 60 KiB
        /// that the kernel copies with an event: on a busy machine in up to three of some 75
        /// slices.
        @Test(.needs("python3")) func shellScript() throws {
            try scratch.write(
                "#!/bin/sh\nexec python3 -c 'import json; print(json.dumps([1]))'\n",
                to: "script", mode: 0o755)
            try check(
                [scratch("script")], phases: Self.dynamic, startingWith: ["Wrapper: sh"],
                truncated: 0.05)
        }

        @Test(.needs("go")) func staticGo() throws {
            try scratch.write(Self.goProgram, to: "main.go")
            var build = Command(
                ["go", "build", "-o", scratch("program"), scratch("main.go")],
                adding: ["CGO_ENABLED": "0", "GO111MODULE": "off"])
            build.directory = scratch.folder
            // The first build on a machine also compiles Go's own library.
            let built = try build.run(limit: 600)
            #expect(built.status == 0, "\(built.error)")
            try check([scratch("program")], phases: ["Main"])
        }

        private static let goProgram = """
            package main

            import (
                "fmt"
                "sort"
                "strings"
                "sync"
            )

            func words(seed uint64) []string {
                var result []string
                for index := 0; index < 40000; index++ {
                    seed = seed*6364136223846793005 + 1442695040888963407
                    result = append(result, strings.Repeat(string(rune('a'+seed>>60)), int(seed>>58)))
                }
                sort.Strings(result)
                return result
            }

            func main() {
                var group sync.WaitGroup
                sizes := make([]int, 4)
                for number := range sizes {
                    group.Add(1)
                    go func(number int) {
                        defer group.Done()
                        sizes[number] = len(strings.Join(words(uint64(number)), ""))
                    }(number)
                }
                group.Wait()
                fmt.Println(sizes)
            }
            """

        @Test(.needs("node")) func node() throws {
            try check(["node", "-e", "0"], phases: Self.dynamic)
        }

        @Test(.needs("cargo")) func cargo() throws {
            try check(["cargo", "--version"], phases: Self.dynamic)
        }

        @Test(.needs("swift")) func swift() throws {
            try check(["swift", "--version"], phases: Self.dynamic)
        }

        @Test(.needs("java")) func java() throws {
            try check(["java", "-version"], phases: Self.dynamic)
        }
    }
}

import Analysis
import MadeRecordings
import ProfileModel
import Testing

private typealias Spot = RecordingBuilder.Spot

/// A thread's activities, one after the other: running, blocked, the stack (nil: none could be
/// taken).
private typealias Piece = (running: Int64, blocked: Int64, stack: [Spot]?)

@Suite struct ImportRunTests {
    private let main = Spot.python("<module>", "/home/dev/app.py")

    private func profile(
        _ threads: [[Piece]], truncated: Set<Int> = [], gaps: [Int: Int64] = [:]
    ) -> Profile {
        var builder = RecordingBuilder(attached: true, images: [("/usr/bin/python3", 0)])
        builder.border(.attached, 0)
        builder.border(.ended, 100)
        for (number, pieces) in threads.enumerated() {
            let thread = builder.thread(
                "python3", tid: 100 + Int32(number), to: 100, isMain: number == 0)
            var time: Int64 = 0
            for (index, piece) in pieces.enumerated() {
                time += gaps[index] ?? 0
                builder.slice(
                    thread, at: time, running: piece.running, blocked: piece.blocked,
                    piece.stack.flatMap { builder.stack($0) },
                    truncation: truncated.contains(index) ? .stackLimit : nil)
                time += piece.running + piece.blocked
            }
        }
        return Profile(builder.recording)
    }

    /// `name thread: start-end wall/own cpu/own < parent`, in milliseconds.
    private func describe(_ profile: Profile) -> [String] {
        let runs = profile.importRuns()
        return runs.map { run in
            func ms(_ span: TimeSpan) -> Int64 { span.nanoseconds / 1_000_000 }
            #expect(run.depth == (run.parent.map { runs[$0].depth + 1 } ?? 0))
            return "\(run.name) \(run.thread): \(ms(run.start))-\(ms(run.end)) "
                + "\(ms(run.wall))/\(ms(run.ownWall)) \(ms(run.cpu))/\(ms(run.ownCPU))"
                + (run.parent.map { " < \(runs[$0].name)" } ?? "")
        }
    }

    @Test func importsLastFromTheFirstStackToTheLast() {
        let json = [
            main, .imported("json"), Spot("PyEval_EvalCode", "/usr/bin/python3"),
            .python("<module>", "/lib/json/__init__.py"), .python("<module>", "<made>"),
        ]
        let found = profile([
            [
                (5, 0, [main]), (10, 0, json),
                (3, 4, json + [.imported("re"), Spot("read", "/lib/c.so")]),
                (2, 0, json + [.imported("re")]), (1, 1, json), (4, 0, [main]),
                (2, 0, [main, .imported("re")]),
            ]
        ])
        #expect(
            describe(found) == [
                "json 0: 5-26 21/12 16/11", "re 0: 15-24 9/9 5/5 < json", "re 0: 30-32 2/2 2/2",
            ])
        let runs = found.importRuns()
        #expect(runs.map(\.file) == ["/lib/json/__init__.py", nil, nil])
        #expect(runs.map(\.isAwaited) == [false, false, false])
    }

    @Test func theSumsAreTheTrees() {
        let json = [main, .imported("json")]
        let found = profile([
            [(10, 2, json), (3, 4, json + [.imported("re")]), (2, 0, json), (1, 0, [main])]
        ])
        for (weight, own) in [
            (Weight.wall, \ImportFigures.ownWall), (.cpu, \ImportFigures.ownCPU),
        ] {
            let tree = found.imports(weight: weight).tree
            let sum = found.importRuns().reduce(TimeSpan.zero) { $0 + $1[keyPath: own] }
            #expect(sum == tree.roots.reduce(.zero) { $0 + weight.of(tree.nodes[$1].total) })
        }
    }

    @Test func anotherFunctionBetweenIsNoOtherImport() {
        let found = profile([
            [
                (2, 0, [main, .imported("a"), .python("f", "/a.py"), .imported("b")]),
                (2, 0, [main, .imported("a"), .python("g", "/a.py"), .imported("b")]),
            ]
        ])
        #expect(describe(found) == ["a 0: 0-4 4/0 4/0", "b 0: 0-4 4/4 4/4 < a"])
    }

    @Test func unknownTimeBelongsToTheImportThatGoesOn() {
        let (a, b) = ([main, .imported("a")], [main, .imported("a"), .imported("b")])
        #expect(
            describe(profile([[(2, 0, b), (3, 0, nil), (2, 0, b), (1, 0, nil), (1, 0, a)]]))
                == ["a 0: 0-9 9/2 9/2", "b 0: 0-7 7/7 7/7 < a"])
        // At the end that time belongs to no import.
        #expect(
            describe(profile([[(2, 0, a), (3, 0, nil), (2, 0, [main])]]))
                == ["a 0: 0-2 2/2 2/2"])
        // Time of which nothing was recorded.
        #expect(
            describe(profile([[(2, 0, a), (2, 0, a)]], gaps: [1: 5])) == ["a 0: 0-9 9/9 4/4"])
    }

    @Test func aTruncatedStackMayBeTheInnerPart() {
        let b = [main, .imported("a"), .imported("b")]
        #expect(
            describe(profile([[(2, 0, b), (3, 0, [.imported("b")]), (2, 0, b)]], truncated: [1]))
                == ["a 0: 0-7 7/0 7/0", "b 0: 0-7 7/7 7/7 < a"])
        #expect(
            describe(profile([[(2, 0, b), (3, 0, [.imported("c")]), (2, 0, b)]], truncated: [1]))
                == [
                    "a 0: 0-2 2/0 2/0", "b 0: 0-2 2/2 2/2 < a", "c 0: 2-5 3/3 3/3",
                    "a 0: 5-7 2/0 2/0", "b 0: 5-7 2/2 2/2 < a",
                ])
    }

    @Test func aStackWithAnotherRootIsAPart() {
        let a = [main, .imported("a")]
        #expect(
            describe(profile([[(2, 0, a), (3, 0, [Spot("_dl_map", "/lib/ld.so")]), (2, 0, a)]]))
                == ["a 0: 0-7 7/7 7/7"])
    }

    @Test func whereTheLoopIsLeftTheInnerImportsMayGoOn() {
        let loop = Spot("_PyEval_EvalFrameDefault", "/usr/bin/python3.11")
        let (a, b) = ([main, .imported("a")], [main, .imported("a"), .imported("b")])
        #expect(
            describe(profile([[(2, 0, b), (3, 0, a + [loop]), (1, 0, [loop]), (2, 0, b)]]))
                == ["a 0: 0-8 8/0 8/0", "b 0: 0-8 8/8 8/8 < a"])
        // Not of what another one took the place of.
        #expect(
            describe(profile([[(2, 0, b), (3, 0, a + [.imported("c"), loop]), (2, 0, b)]])) == [
                "a 0: 0-7 7/0 7/0", "b 0: 0-2 2/2 2/2 < a", "c 0: 2-5 3/3 3/3 < a",
                "b 0: 5-7 2/2 2/2 < a",
            ])
    }

    /// Where newer functions are missing, the outer import certainly goes on, whatever it has
    /// imported.
    @Test func anOuterImportGoesOnWhereFramesAreMissing() {
        let loop = Spot("_PyEval_EvalFrameDefault", "/usr/bin/python3.11")
        let (a, b) = ([main, .imported("a")], [main, .imported("a"), .imported("b")])
        let c = b + [.imported("c")]
        #expect(
            describe(profile([[(2, 0, b), (3, 0, a + [loop]), (1, 0, nil), (2, 0, a + [loop])]]))
                == ["a 0: 0-8 8/6 8/6", "b 0: 0-2 2/2 2/2 < a"])
        #expect(
            describe(
                profile([[(2, 0, c), (3, 0, a + [loop]), (1, 0, b + [loop]), (2, 0, [main])]]))
                == [
                    "a 0: 0-6 6/0 6/0", "b 0: 0-6 6/4 6/4 < a", "c 0: 0-2 2/2 2/2 < b",
                ])
    }

    @Test func threadsImportByThemselves() {
        let waiting = Spot(
            "waiting for import of a", Spot.python, file: ScriptPath.ofImports)
        let found = profile([[(4, 0, [main, .imported("a")])], [(0, 3, [main, waiting])]])
        #expect(describe(found) == ["a 0: 0-4 4/4 4/4", "a 1: 0-3 3/3 0/0"])
        #expect(found.importRuns().map(\.isAwaited) == [false, true])
    }

    @Test func withoutImportsThereAreNone() {
        #expect(profile([[(4, 0, [main])]]).importRuns().isEmpty)
        #expect(profile([]).importRuns().isEmpty)
    }
}

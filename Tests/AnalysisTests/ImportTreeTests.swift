import Analysis
import MadeRecordings
import ProfileModel
import Testing

private typealias Spot = RecordingBuilder.Spot

@Suite struct ImportTreeTests {
    private func profile(_ stacks: [(Int64, Int64, [Spot])]) -> Profile {
        var builder = RecordingBuilder(attached: true, images: [("/usr/bin/python3", 0)])
        builder.border(.attached, 0)
        builder.border(.ended, 100)
        let main = builder.thread("python3", tid: 100, to: 100, isMain: true)
        var time: Int64 = 0
        for (running, blocked, spots) in stacks {
            builder.slice(
                main, at: time, running: running, blocked: blocked, builder.stack(spots))
            time += running + blocked
        }
        return Profile(builder.recording)
    }

    private func describe(_ tree: CallTree) -> [String] {
        func lines(_ range: Range<Int>, _ indent: String) -> [String] {
            range.flatMap { index in
                let node = tree.nodes[index]
                let (total, own) = (tree.weight.of(node.total), tree.weight.of(node.own))
                return [
                    "\(indent)\(tree.function(of: node).name) \(total.nanoseconds / 1_000_000)"
                        + "/\(own.nanoseconds / 1_000_000)"
                ] + lines(node.children, indent + "  ")
            }
        }
        return lines(tree.roots, "")
    }

    private let main = Spot.python("<module>", "/home/dev/app.py")

    @Test func aModulesOwnTimeIsWithoutWhatItImports() {
        let body = Spot.python("<module>", "/usr/lib/python3.11/json/__init__.py")
        let found = profile([
            (5, 0, [main]),
            (10, 0, [main, .imported("json"), body]),
            (3, 4, [main, .imported("json"), body, .imported("re"), Spot("read", "/lib/c.so")]),
            (2, 0, [main, .imported("re")]),
        ])
        #expect(
            describe(found.imports(weight: .cpu).tree)
                == ["import json 13/10", "  import re 3/3", "import re 2/2"])
        #expect(
            describe(found.imports(weight: .wall).tree)
                == ["import json 17/10", "  import re 7/7", "import re 2/2"])
        #expect(
            describe(found.imports(weight: .blocked).tree) == [
                "import json 4/0", "  import re 4/4",
            ])
    }

    /// The view has what the page and exports have: stacks whose newest functions could not be read
    /// are of the import that goes on.
    @Test func unreadableFramesBelongToTheImportThatGoesOn() {
        let body = Spot.python("<module>", "/usr/lib/python3.11/json/__init__.py")
        let loop = Spot("_PyEval_EvalFrameDefault", "/usr/bin/python3")
        let found = profile([
            (10, 0, [main, .imported("json"), body, .imported("re")]),
            (3, 0, [main, .imported("json"), loop]),
            (4, 0, [main, .imported("json"), body, .imported("re")]),
            (2, 0, [main, .imported("json"), loop]),
            (1, 0, [main]),
        ])
        #expect(
            describe(found.imports(weight: .wall).tree) == [
                "import json 19/2", "  import re 17/17",
            ])
        #expect(
            describe(
                found.imports(
                    Selection(windows: TimeWindows([.milliseconds(9) ..< .milliseconds(12)])),
                    weight: .wall
                ).tree)
                == ["import json 3/0", "  import re 3/3"])
    }

    @Test func withoutImportsThereIsNoTree() {
        #expect(profile([(5, 0, [main])]).imports(weight: .wall).tree.roots.isEmpty)
    }

    @Test func functionsAreCalledByTheirScripts() {
        let found = profile([
            (5, 0, [main, .python("load", "/usr/lib/python3.11/json/decoder.py", 7)])
        ])
        let functions = found.frames.functions.filter { $0.moduleIndex != nil }
        #expect(functions.map(\.module) == ["app.py", "decoder.py"])
        #expect(functions.map(\.isOwn) == [true, false])
    }
}

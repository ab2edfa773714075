import Analysis
import MadeRecordings
import ProfileModel
import Report
import Testing

@Suite struct ImportsViewTests {
    /// - Parameter file: what the innermost import waits for.
    private func report(
        reading file: String? = nil, _ change: (inout TextOptions) -> Void = { _ in }
    ) -> String {
        var builder = RecordingBuilder(images: [("/usr/bin/python3", 1)])
        builder.border(.spawned, 0)
        builder.border(.ended, 60)
        let main = builder.thread("python3", tid: 100, to: 60, isMain: true)
        let runtime = Module.runtimePath("Python 3.11.2")
        func function(_ name: String, _ file: String, _ line: Int32?) -> RecordingBuilder.Spot {
            RecordingBuilder.Spot(name, runtime, file: file, line: line)
        }
        let script = function("<module>", "/home/dev/app.py", 3)
        let json = function("import json", ScriptPath.ofImports, nil)
        let re = function("import re", ScriptPath.ofImports, nil)
        builder.slice(main, at: 2, running: 8, builder.stack([script]))
        builder.slice(main, at: 10, running: 30, builder.stack([script, json]))
        let reading = builder.stack([script, json, re])
        builder.slice(
            main, at: 40, running: 10, blocked: 10, reading, call: file == nil ? nil : 0)
        if let file {
            builder.wait(
                main, from: 50, to: 60, WaitReason(.file, detail: file), call: 0, reading)
        }
        var options = TextOptions()
        change(&options)
        return TextReport.render(
            Profile(builder.recording), view: .imports, options: options)
    }

    @Test func modulesStandBelowWhatImportedThem() {
        let lines = report().split(separator: "\n").map { $0.filter { $0 != "●" } }
        let found = lines.suffix(3).map { $0.split(separator: " ").joined(separator: " ") }
        #expect(found[0] == "WALL SHARE SELF CPU SELF IMPORT, WHAT IT IMPORTED BELOW")
        #expect(found[1].hasPrefix("50.0 ms"))
        #expect(found[1].hasSuffix("30.0 ms 40.0 ms 30.0 ms import json"))
        #expect(found[2].hasPrefix("20.0 ms"))
        #expect(found[2].hasSuffix("20.0 ms 10.0 ms 10.0 ms import re"))
    }

    @Test func waitsForFilesHaveAColumn() {
        let text = report(reading: "/home/dev/re.py")
        let lines = text.split(separator: "\n").suffix(3).map {
            $0.filter { $0 != "●" }.split(separator: " ").joined(separator: " ")
        }
        #expect(lines[0] == "WALL SHARE SELF CPU SELF FILES IMPORT, WHAT IT IMPORTED BELOW")
        #expect(lines[1].hasSuffix("10.0 ms import json"))
        #expect(lines[2].hasSuffix("10.0 ms import re"))
        #expect(text.filter { $0 != "\n" }.contains("10.0 ms in all"))
        #expect(!report().contains("FILES"))
    }

    @Test func theWeightCanBeChosen() {
        let text = report { $0.weight = .cpu }
        #expect(text.contains("imports took 40.0 ms"))
    }

    @Test func coloursOnlyOnRequest() {
        let coloured = report { $0.usesColour = true }
        #expect(!report().contains("\u{1b}"))
        #expect(coloured.contains("\u{1b}[1m"))
        #expect(coloured.replacing(#/\u{1b}\[[0-9;]*m/#, with: "") == report())
    }
}

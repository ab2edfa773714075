import Analysis
import Exports
import Foundation
import ProfileModel
import Report
import Testing

/// Each format tells in its own way in which language a frame is written.
@Suite struct LanguageExportTests {
    private let profile = Profile(MadePython.recording)

    private func text(_ format: ExportFormat) -> String {
        String(decoding: Export.render(profile, as: format), as: UTF8.self)
    }

    private func object(_ bytes: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    private func object(_ format: ExportFormat) throws -> [String: Any] {
        try object(Export.render(profile, as: format))
    }

    @Test func foldedStacksNameScriptsAndLines() {
        var options = FoldedStacks.Options()
        (options.showsPhase, options.showsThread) = (false, false)
        let lines = FoldedStacks.render(profile, options: options).split(separator: "\n")
        #expect(
            lines == [
                "Py_RunMain;<module> (app.py:3) 8000",
                "Py_RunMain;<module> (app.py:3);import json;<module> (json/__init__.py:106) 30000",
                "Py_RunMain;<module> (app.py:3);import json;<module> (json/__init__.py:106);"
                    + "import re;compile (re.py:7) 5000",
                "Py_RunMain;main:<b> (app.py:9);vfs_read_[k] 5000",
            ])
    }

    @Test func speedscopeHasFilesAndLines() throws {
        let shared = try #require(try object(.speedscope)["shared"] as? [String: Any])
        let frames = try #require(shared["frames"] as? [[String: Any]])
        let found = frames.first { $0["name"] as? String == "compile" }
        #expect(found?["file"] as? String == "/usr/lib/python3.11/re.py")
        #expect(found?["line"] as? Int == 7)
        #expect(frames.first { $0["name"] as? String == "import re" }?.count == 1)
    }

    @Test func firefoxHasCategories() throws {
        let file = try object(.firefox)
        let meta = try #require(file["meta"] as? [String: Any])
        let categories = try #require(meta["categories"] as? [[String: Any]])
        let thread = try #require((file["threads"] as? [[String: Any]])?.first)
        func column<T>(_ table: String, _ name: String, as type: T.Type) throws -> [T] {
            try #require((thread[table] as? [String: Any])?[name] as? [T])
        }
        let strings = try #require(thread["stringArray"] as? [String])
        let functions = try column("funcTable", "name", as: Int.self).map { strings[$0] }
        let frames = try column("frameTable", "func", as: Int.self).map { functions[$0] }
        let kinds = try column("frameTable", "category", as: Int.self)
        let parts = try column("frameTable", "subcategory", as: Int.self)
        var found: [String: String] = [:]
        for (index, name) in frames.enumerated() {
            let category = categories[kinds[index]]
            let subcategories = try #require(category["subcategories"] as? [String])
            found[name] = "\(category["name"] ?? ""), \(subcategories[parts[index]])"
        }
        #expect(found["Py_RunMain"] == "System libraries, Other")
        #expect(found["main;<b>"] == "Python, Own code")
        #expect(found["compile"] == "Python, Libraries")
        #expect(found["import re"] == "Python, Libraries")
        #expect(found["vfs_read"] == "Kernel, Other")
        #expect(found["[blocked]"] == nil)
        // Stacks have the frame's, but the state where the thread waits.
        let stacks = try column("stackTable", "frame", as: Int.self)
        #expect(try column("stackTable", "category", as: Int.self) == stacks.map { kinds[$0] })
    }

    @Test func firefoxHasImportsAsMarkers() throws {
        let thread = try #require((try object(.firefox)["threads"] as? [[String: Any]])?.first)
        let strings = try #require(thread["stringArray"] as? [String])
        let markers = try #require(thread["markers"] as? [String: Any])
        let names = try #require(markers["name"] as? [Int]).map { strings[$0] }
        let data = try #require(markers["data"] as? [[String: Any]])
        let starts = try #require(markers["startTime"] as? [Double])
        let ends = try #require(markers["endTime"] as? [Any])
        let found = data.indices.filter { data[$0]["type"] as? String == "Import" }
        #expect(found.map { names[$0] } == ["import json", "import re"])
        #expect(found.map { starts[$0] } == [10, 40])
        #expect(found.map { ends[$0] as? Double } == [55, 55])
        #expect(
            found.map { data[$0]["detail"] as? String }
                == ["/usr/lib/python3.11/json/__init__.py", ""])
    }

    @Test func chromeNestsImports() throws {
        let events = try #require(try object(.chrome)["traceEvents"] as? [[String: Any]])
        let found = events.filter { $0["cat"] as? String == "import" }.map { event in
            let words = ["ph", "name", "id", "ts"].map { "\(event[$0] ?? "")" }
            return words.joined(separator: " ")
        }
        #expect(
            found == [
                "b import json 1 10000", "b import re 1 40000", "e import re 1 55000",
                "e import json 1 55000",
            ])
    }

    @Test func theFlameGraphMarksScripts() {
        let lines = text(.svg).split(separator: "\n").filter { $0.contains("class=\"frame\"") }
        #expect(lines.count == 8)
        for line in lines {
            #expect(line.contains(", Python)") == line.contains("class=\"script\""))
        }
        #expect(lines.contains { $0.contains("<title>main;&lt;b&gt; (app.py, Python): ") })
        #expect(lines.filter { $0.contains("class=\"script\"") }.count == 6)
    }

    @Test func jsonHasTheLanguageOfEachFunction() throws {
        let report = try object(JSONReport.bytes(profile, with: []))
        let functions = try #require(report["functions"] as? [[String: Any]])
        var found: [String: String?] = [:]
        for function in functions {
            let name = try #require(function["function"] as? String)
            found[name] = function["language"] as? String
        }
        #expect(found["Py_RunMain"] == "native")
        #expect(found["compile"] == "python")
        #expect(found["vfs_read"] == "kernel")
        let phases = try #require(report["phases"] as? [[String: Any]])
        let languages = phases.compactMap { $0["heaviestStack"] as? [[String: Any]] }.map { stack in
            stack.map { $0["language"] as? String }
        }
        #expect(languages.contains(["native"] + [String](repeating: "python", count: 5)))
    }
}

import Foundation
import ProfileModel
import Testing

@testable import Analysis
@testable import Exports
@testable import Report

@Suite struct HistoryTextTests {
    private func text(
        _ history: LaunchHistory, width: Int = 100, colour: Bool = false
    ) -> String {
        var options = TextOptions()
        options.width = width
        options.usesColour = colour
        return HistoryReport.text(history, options: options)
    }

    @Test(arguments: [60, 100, 160]) func snapshots(width: Int) throws {
        try expectSnapshot(text(MadeHistory.whole, width: width), "history-\(width).txt")
    }

    @Test func byDay() throws {
        try expectSnapshot(
            text(MadeHistory.history(by: .day, goal: .milliseconds(45))), "history-day.txt")
    }

    @Test func severalSeries() throws {
        try expectSnapshot(text(MadeHistory.several), "history-several.txt")
    }

    @Test func versionsInProgramsNamesAreNoted() {
        var history = MadeHistory.several
        #expect(history.namesakes.isEmpty && history.series.count == 2)
        for (index, name) in ["app-1.0", "app-v1.10"].enumerated() {
            history.series[index].circumstances.arms[0].path = "/opt/" + name
        }
        #expect(history.namesakes == [["app-1.0", "app-v1.10"]])
        #expect(text(history).contains("app-1.0, app-v1.10 are different programs here"))
        history.series[1].circumstances.arms[0].path = "/opt/application-1.0"
        #expect(history.namesakes.isEmpty)
    }

    @Test(arguments: [60, 80, 200]) func noLineIsTooLong(width: Int) {
        let histories = [
            MadeHistory.whole, MadeHistory.hostile, MadeHistory.single, MadeHistory.long,
        ]
        for history in histories {
            let text = text(history, width: width)
            #expect(text.hasSuffix("\n"))
            for line in text.split(separator: "\n") {
                #expect(String(line).displayWidth <= width, "\(line)")
            }
        }
    }

    @Test func nothingActsOnTheTerminal() {
        let text = text(MadeHistory.hostile)
        #expect(!text.contains("\u{1b}") && !text.contains("\u{202e}"))
        #expect(text.contains("\\u{1b}"))
    }

    @Test func coloursAreAllThatColoursAdd() {
        let coloured = text(MadeHistory.whole, colour: true)
        #expect(coloured.contains("\u{1b}[31m"))
        var plain = ""
        var isEscape = false
        for scalar in coloured.unicodeScalars {
            if scalar == "\u{1b}" { isEscape = true }
            if !isEscape { plain.unicodeScalars.append(scalar) }
            if isEscape, scalar == "m" { isEscape = false }
        }
        #expect(plain == text(MadeHistory.whole))
    }

    @Test func sparklineHasACharacterForEachPoint() throws {
        let series = try #require(MadeHistory.long.series.first)
        let drawn = Sparkline(series: series, options: TextOptions()).render()
        let marks = drawn.filter { $0 != " " && $0 != "\n" }
        #expect(series.changes.map(\.point) == [300, 600])
        #expect(marks.count == 902)
        #expect(
            marks.indices.filter { marks[$0] == Sparkline.change }.map {
                marks.distance(from: marks.startIndex, to: $0)
            } == [300, 601])
    }

    @Test func tooFewForAChangeIsSaid() {
        #expect(text(MadeHistory.single).contains("changes can be detected from 6 versions on"))
    }

    // MARK: JSON

    @Test func json() throws {
        let json = HistoryReport.json(MadeHistory.whole)
        try expectSnapshot(json, "history.json")
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        let series = try #require((object?["series"] as? [[String: Any]])?.first)
        let changes = try #require(series["changes"] as? [[String: Any]])
        #expect(changes.count == 1)
        #expect(changes.first?["from"] as? String == "1.6")
        #expect(changes.first?["to"] as? String == "1.7")
        #expect(changes.first?["phase"] as? String == "Main")
        let points = try #require(series["points"] as? [[String: Any]])
        #expect(points.map { $0["meetsGoal"] as? Bool } == (0..<12).map { $0 < 7 })
    }

    @Test func jsonOfAnything() throws {
        for history in [MadeHistory.hostile, MadeHistory.single, MadeHistory.several] {
            let json = HistoryReport.json(history)
            #expect(!json.contains("\u{1b}"))
            #expect(throws: Never.self) {
                try JSONSerialization.jsonObject(with: Data(json.utf8))
            }
        }
    }
}

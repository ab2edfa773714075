import ProfileModel
import Testing

@testable import Analysis
@testable import Report

@Suite struct HistoryPageTests {
    private func page(_ history: LaunchHistory) -> String {
        String(decoding: HistoryReport.html(history), as: UTF8.self)
    }

    /// The page's own part.
    private func content(_ history: LaunchHistory) throws -> String {
        try #require(PageText.between("class=\"measurement\">", "</main>", in: page(history)))
    }

    private func count(_ part: String, in text: String) -> Int {
        var (count, rest) = (0, text[...])
        while let range = rest.firstRange(of: part) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }

    @Test func isOnePiece() {
        for history in [MadeHistory.whole, MadeHistory.single, MadeHistory.several] {
            let page = page(history)
            for place in PageBundle.measurement.skeleton.split(separator: "\n")
            where place.hasPrefix("@") {
                #expect(!page.contains("\n\(place)\n"), "\(place)")
            }
            for attribute in ["src=", "href=", "@import", "url(", " style="] {
                #expect(!page.contains(attribute), "\(attribute)")
            }
            #expect(PageText.imbalance(of: page) == nil)
        }
    }

    @Test func sameValuesGiveTheSameBytes() {
        #expect(page(MadeHistory.whole) == page(MadeHistory.whole))
    }

    /// Each point once in each plot and once in the table; numbers are unique on the page.
    @Test func everyPointIsThere() throws {
        let content = try content(MadeHistory.several)
        let points = MadeHistory.several.series.reduce(0) { $0 + $1.points.count }
        #expect(points == 15)
        for number in 1...points {
            #expect(count("id=\"launch-\(number)\"", in: content) == 1)
            #expect(count("data-launch=\"\(number)\"", in: content) == 3, "\(number)")
        }
        #expect(!content.contains("launch-\(points + 1)\""))
    }

    @Test func changesAndGoalAreDrawn() throws {
        let content = try content(MadeHistory.whole)
        #expect(count("<line class=\"change slower\"", in: content) == 1)
        #expect(count("<line class=\"goal\"", in: content) == 1)
        #expect(count("<line class=\"level\"", in: content) == 2)
        #expect(content.contains("between 1.6 and 1.7"))
        let none = try self.content(MadeHistory.single)
        #expect(count("<line class=\"change", in: none) == 0)
        #expect(count("<line class=\"goal", in: none) == 0)
    }

    @Test func omissionsAreStated() throws {
        #expect(
            try content(MadeHistory.several).contains(
                "kept/broken.firstlight: is damaged: launches: row 3"))
    }

    /// Columns of phases stand upon each other, and none is outside of its plot.
    @Test func phasesAreStacked() throws {
        let series = try #require(MadeHistory.whole.series.first)
        let plot = PhasePlot(
            HistoryPageSeries(history: MadeHistory.whole, series: series, place: 0, first: 0))
        #expect(
            plot.names == [
                "Process creation", "Dynamic linking", "Static initialisers", "Main",
            ])
        let drawn = plot.render().source
        #expect(count("class=\"stacked layer", in: drawn) == 4 * series.points.count)
        #expect(count("class=\"datum cover\"", in: drawn) == series.points.count)
    }

    @Test func namesStandInNoMarkup() throws {
        let page = page(MadeHistory.hostile)
        #expect(!page.contains("\u{1b}") && !page.contains("\u{202e}"))
        #expect(PageText.imbalance(of: page) == nil)
        let known: Set<String> = [
            "html", "head", "meta", "title", "style", "body", "main", "header", "h1", "h2", "p",
            "span", "i", "code", "section", "div", "svg", "line", "rect", "circle", "text", "table",
            "thead", "tbody", "tr", "th", "td", "data", "ul", "li", "script",
        ]
        let names = Set(PageText.tags(of: page).map(\.name))
        #expect(names.isSubset(of: known), "\(names.subtracting(known))")
    }

    @Test func manyVersionsFit() throws {
        #expect(page(MadeHistory.long).utf8.count < 1_500_000)
    }
}

import ProfileModel
import Testing

@testable import Analysis
@testable import Report

@Suite struct MeasurementPageTests {
    private func page(_ measurement: Measurement, _ summary: MeasurementSummary? = nil) -> String {
        String(
            decoding: MeasurementPage.html(
                of: measurement, summary: summary ?? MadeMeasurement.summary(of: measurement)),
            as: UTF8.self)
    }

    // MARK: The page

    @Test(arguments: [1, 2]) func isOnePieceWithoutOpenPlaces(programs: Int) {
        let page = page(MadeMeasurement.measurement(programs: programs))
        for place in PageBundle.measurement.skeleton.split(separator: "\n")
        where place.hasPrefix("@") {
            #expect(!page.contains("\n\(place)\n"), "\(place)")
        }
        for attribute in ["src=", "href=", "@import", "url(", " style="] {
            #expect(!page.contains(attribute), "\(attribute)")
        }
        #expect(page.contains("default-src 'none'"))
        #expect(!page.contains("unsafe-"))
        #expect(PageText.imbalance(of: page) == nil)
    }

    @Test func policyKnowsScriptAndStyleByTheirHashes() throws {
        let page = page(MadeMeasurement.measurement())
        for (start, end, name) in [
            ("<script type=\"module\">", "</script>", "script-src"),
            ("<style>", "</style>", "style-src"),
        ] {
            let content = try #require(PageText.between(start, end, in: page))
            let hash = Base64.encoded(SHA256.hash(Array(content.utf8)))
            let source = String(decoding: hash, as: UTF8.self)
            #expect(page.contains("\(name) 'sha256-\(source)'"))
        }
    }

    @Test func theScriptIsOne() {
        let script = String(decoding: PageBundle.measurement.script, as: UTF8.self)
        for line in script.split(separator: "\n") {
            #expect(!line.hasPrefix("import ") && !line.hasPrefix("export "), "\(line)")
        }
        #expect(!script.contains("</"))
    }

    @Test func sameValuesGiveTheSameBytes() {
        let measurement = MadeMeasurement.measurement(programs: 2)
        #expect(page(measurement) == page(measurement))
    }

    // MARK: Safety

    @Test func namesStandInNoMarkup() {
        let page = page(MadeMeasurement.hostile())
        #expect(!page.contains("<img"))
        #expect(!page.contains("\u{1b}"))
        // Wherever it is an attribute's value, its quotes do not end it.
        #expect(!page.contains("onerror=\""))
        #expect(!page.contains("onload='"))
        #expect(PageText.imbalance(of: page) == nil)
        let known: Set<String> = [
            "html", "head", "meta", "title", "style", "body", "main", "header", "h1", "h2", "p",
            "span", "i", "code", "dl", "dt", "dd", "section", "div", "svg", "line", "rect",
            "circle", "path", "text", "table", "thead", "tbody", "tr", "th", "td", "data",
            "strong", "ul", "li", "details", "summary", "pre", "script",
        ]
        let names = Set(PageText.tags(of: page).map(\.name))
        #expect(names.isSubset(of: known), "\(names.subtracting(known))")
    }

    @Test func attributesAreOurOwn() {
        let allowed: Set<String> = [
            "lang", "charset", "http-equiv", "content", "name", "class", "id", "role", "hidden",
            "aria-live", "aria-label", "aria-hidden", "type", "scope", "colspan", "rowspan",
            "value", "title", "data-launch", "data-arm", "data-reason", "width", "height", "x",
            "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "d", "viewBox", "preserveAspectRatio",
            "text-anchor", "transform",
        ]
        let names = Set(PageText.tags(of: page(MadeMeasurement.hostile())).flatMap(\.attributes))
        #expect(names.isSubset(of: allowed), "\(names.subtracting(allowed))")
    }

    @Test func outputKeepsItsLines() {
        let page = page(MadeMeasurement.hostile())
        #expect(page.contains("<pre class=\"excerpt\">first\n&lt;/title&gt;"))
        #expect(page.contains("killed by SIGSEGV (11); what it printed last"))
    }

    /// Figures that no launch has: a file can say anything.
    @Test func anyNumberMakesAPage() {
        var numbers: [Int64] = [.min, .max, -1, 0, 1, .max / 2]
        var measurement = MadeMeasurement.measurement(launches: 12, programs: 2)
        measurement.header.date = .min
        measurement.header.requested = .max
        measurement.machine.memory = .min
        for index in measurement.launches.indices {
            numbers.append(numbers.removeFirst())
            let value = numbers[0]
            measurement.launches[index].wall = TimeSpan(nanoseconds: value)
            measurement.launches[index].start = TimeSpan(nanoseconds: value)
            measurement.launches[index].cpu = TimeSpan(nanoseconds: value)
            measurement.launches[index].readBytes = value
            measurement.launches[index].frequency = value
            measurement.launches[index].phases[1].wall = TimeSpan(nanoseconds: value)
            if index > 20 { measurement.launches[index].arm = Int.max }
        }
        var summary = MadeMeasurement.summary(of: measurement)
        for value in [Double.nan, .infinity, -.infinity, .greatestFiniteMagnitude] {
            summary.arms[0].wall?.median = value
            summary.arms[0].wall?.interval?.high = value
            summary.comparison?.change = value
            summary.arms[0].disturbances = [
                .otherWork(share: value, launches: .max), .drift(share: value),
                .frequency(lowest: .min, highest: .max), .outliers([.max - 1, 0]),
                .bimodal(lower: value, lowerCount: .min, upper: -value, upperCount: .max),
            ]
            let page = page(measurement, summary)
            #expect(PageText.imbalance(of: page) == nil)
            for plot in PageText.all(between: "<svg", and: "</svg>", in: page) {
                #expect(!plot.contains("nan") && !plot.contains("inf\""))
            }
        }
    }

    @Test func nothingMeasuredMakesAPage() {
        var measurement = MadeMeasurement.measurement(launches: 0)
        measurement.launches = []
        measurement.header.ending = .interrupted
        let page = page(measurement)
        #expect(page.contains("no launch counts"))
        #expect(page.contains("interrupted: only what was measured until then is shown"))
        #expect(PageText.imbalance(of: page) == nil)
        let nobody = MeasurementSummary(arms: [], comparison: nil)
        measurement.arms = []
        #expect(PageText.imbalance(of: self.page(measurement, nobody)) == nil)
    }

    @Test func manyLaunchesMakeNoHugePage() {
        let measurement = MadeMeasurement.measurement(launches: 30_000)
        let page = page(measurement)
        #expect(page.utf8.count < 3_000_000)
        #expect(page.contains("each line spans the times of several in a row"))
        #expect(page.contains("Not all dots are drawn"))
        #expect(page.contains("The first 2,000 of 30,001 launches"))
    }
}

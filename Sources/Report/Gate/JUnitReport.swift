import Exports
package import ProfileModel

/// One test case in JUnit's XML, which CI systems read (`testsuite`, `testcase`, `failure`,
/// `skipped`, `error`; github.com/testmoapp/junitxml). Pure.
package struct JUnitReport: Sendable {
    /// The test's result; the texts give the reason in one line.
    package enum Result: Hashable, Sendable {
        case passed
        case failed(String)
        case skipped(String)
        /// The test could not be made.
        case broken(String)
    }

    package var suite: String
    package var name: String
    package var result: Result
    /// The total duration.
    package var duration: TimeSpan
    /// Further lines of output.
    package var details: [String]

    package init(
        suite: String, name: String, result: Result, duration: TimeSpan, details: [String] = []
    ) {
        self.suite = suite
        self.name = name
        self.result = result
        self.duration = duration
        self.details = details
    }

    /// Ends in a line break.
    package func render() -> String {
        let time = Self.seconds(duration)
        let counts = ["failures", "errors", "skipped"].map { " \($0)=\"\($0 == counted ? 1 : 0)\"" }
        let head = "name=\"\(XML.text(suite))\" tests=\"1\"\(counts.joined()) time=\"\(time)\""
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites tests="1"\(counts.joined()) time="\(time)">
              <testsuite \(head)>
                <testcase name="\(XML.text(name))" classname="\(XML.text(suite))" time="\(time)">
            \(element)\(output)    </testcase>
              </testsuite>
            </testsuites>

            """
    }

    private var counted: String {
        switch result {
        case .passed: ""
        case .failed: "failures"
        case .skipped: "skipped"
        case .broken: "errors"
        }
    }

    private var element: String {
        switch result {
        case .passed: ""
        case .failed(let text):
            "      <failure type=\"regression\" message=\"\(XML.text(text))\"/>\n"
        case .skipped(let text): "      <skipped message=\"\(XML.text(text))\"/>\n"
        case .broken(let text): "      <error type=\"failure\" message=\"\(XML.text(text))\"/>\n"
        }
    }

    private var output: String {
        guard !details.isEmpty else { return "" }
        let lines = details.map(XML.text).joined(separator: "\n")
        return "      <system-out>\(lines)</system-out>\n"
    }

    /// "12.345"
    private static func seconds(_ span: TimeSpan) -> String {
        let milliseconds = max(0, span.nanoseconds) / 1_000_000
        let rest = String(milliseconds % 1_000)
        return "\(milliseconds / 1_000)." + String(repeating: "0", count: 3 - rest.utf8.count)
            + rest
    }
}

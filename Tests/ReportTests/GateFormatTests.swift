import Foundation
import ProfileModel
import TestSupport
import Testing

@testable import Analysis
@testable import Report

@Suite struct GateJSONTests {
    private func object(_ report: GateReport, status: Int32 = 0) throws -> [String: Any] {
        let text = report.json(status: status)
        #expect(text.hasSuffix("}\n"))
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return try #require(value as? [String: Any])
    }

    @Test func regression() throws {
        try expectSnapshot(MadeGate.regression.json(status: 1), "gate.json")
        let object = try object(MadeGate.regression, status: 1)
        #expect(object["verdict"] as? String == "regression" && object["status"] as? Int == 1)
        #expect(object["phase"] as? String == "Static initialisers")
        #expect((object["phases"] as? [Any])?.count == 2)
        #expect((object["confirmation"] as? [String: Any])?["pairs"] as? Int == 10)
        #expect(object["looks"] as? [Int] == [10, 20, 40])
    }

    @Test func inconclusive() throws {
        let object = try object(MadeGate.report(.inconclusive(.notSeen)), status: 3)
        #expect(object["verdict"] as? String == "inconclusive")
        #expect(object["doubt"] as? String == "not_seen")
        #expect(object["confirmation"] is NSNull && object["phase"] is NSNull)
        let comparison = try #require(object["comparison"] as? [String: Any])
        #expect(comparison["detectable"] as? Double == 0.041)
        let none = try self.object(MadeGate.report(.inconclusive(.notSeen), seen: nil))
        #expect(none["comparison"] is NSNull)
    }

    @Test func advice() throws {
        let object = try object(MadeGate.advice(mismatches: [.boot]))
        #expect(object["basis"] as? String == "stored" && object["baseline"] is NSNull)
        let stored = try #require(object["stored"] as? [String: Any])
        #expect(stored["reason"] as? String == "gone")
        let kinds = (stored["mismatches"] as? [[String: Any]])?.map { $0["kind"] as? String }
        #expect(kinds == ["boot"])
        let difference = try #require(stored["difference"] as? [String: Any])
        #expect(difference["launches"] as? Int == 20 && difference["change"] as? Double == 0)
    }

    @Test func hostileTexts() throws {
        _ = try object(MadeGate.report(.slower, measurement: MadeMeasurement.hostile()))
        _ = try object(MadeGate.advice(name: MadeMeasurement.evil))
        _ = try object(MadeGate.report(.slower, phases: MadeGate.phases("\"\\\u{0}")))
    }
}

@Suite struct JUnitTests {
    private func report(
        _ result: JUnitReport.Result, name: String = "app", details: [String] = []
    ) -> String {
        JUnitReport(
            suite: "firstlight gate", name: name, result: result,
            duration: TimeSpan(nanoseconds: 12_034_900_000), details: details
        ).render()
    }

    @Test func passed() {
        #expect(
            report(.passed) == """
                <?xml version="1.0" encoding="UTF-8"?>
                <testsuites tests="1" failures="0" errors="0" skipped="0" time="12.034">
                  <testsuite name="firstlight gate" tests="1" failures="0" errors="0" skipped="0" \
                time="12.034">
                    <testcase name="app" classname="firstlight gate" time="12.034">
                    </testcase>
                  </testsuite>
                </testsuites>

                """)
    }

    @Test(arguments: [
        (JUnitReport.Result.failed("a < b"), "failures=\"1\"", "<failure type=\"regression\""),
        (.skipped("a < b"), "skipped=\"1\"", "<skipped "),
        (.broken("a < b"), "errors=\"1\"", "<error type=\"failure\""),
    ]) func results(result: JUnitReport.Result, count: String, element: String) {
        let text = report(result)
        #expect(text.components(separatedBy: count).count == 3)
        #expect(text.contains("      " + element))
        #expect(text.contains("message=\"a &lt; b\"/>"))
    }

    private static let xmllint = "/usr/bin/xmllint"

    /// Whatever is in it, it is well-formed, and nothing becomes markup.
    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: xmllint) || isContinuousIntegration,
            "xmllint is not installed"))
    func hostileTexts() throws {
        let evil = MadeMeasurement.evil + "\u{0}\u{FFFE}]]>&amp;\n\"'--"
        for result in [JUnitReport.Result.passed, .failed(evil), .skipped(evil), .broken(evil)] {
            let text = report(result, name: evil, details: [evil, evil])
            #expect(try xpath("name(/*)", in: text) == "testsuites")
            #expect(try xpath("count(//*)", in: text) == (result == .passed ? "4" : "5"))
            #expect(try xpath("string(//testcase/@name)", in: text).contains("own()"))
        }
    }

    /// What libxml2 makes of it; it must have no complaint.
    private func xpath(_ expression: String, in text: String) throws -> String {
        let process = Process()
        let (input, output, error) = (Pipe(), Pipe(), Pipe())
        process.executableURL = URL(filePath: Self.xmllint)
        process.arguments = ["--xpath", expression, "-"]
        (process.standardInput, process.standardOutput, process.standardError) = (
            input, output, error
        )
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try input.fileHandleForWriting.close()
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        let complaints = error.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && complaints.isEmpty)
        return String(decoding: answer, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}

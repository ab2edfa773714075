import Foundation

#if canImport(Testing)
    import Testing
#endif
#if canImport(XCTest)
    import XCTest
#endif

/// The place in a test that asked for a measurement.
struct TestPlace: Sendable {
    var fileID: StaticString
    var filePath: StaticString
    var line: UInt
    var column: UInt
}

/// Reports a measurement's result to the test. One library serves both Testing and XCTest: it uses
/// those that the toolchain has, and finds out at run time which of them runs the test.
enum TestReport {
    static func tell(_ verdict: LaunchVerdict, at place: TestPlace) {
        switch verdict.outcome {
        case .passed: break
        case .failed: fail(verdict.sentence, at: place)
        case .inconclusive: warn(verdict.sentence, at: place)
        }
    }

    private static func fail(_ sentence: String, at place: TestPlace) {
        #if canImport(Testing)
            if isSwiftTesting {
                Issue.record(Comment(rawValue: sentence), sourceLocation: place.location)
                return
            }
        #endif
        #if canImport(XCTest)
            XCTFail(sentence, file: place.filePath, line: place.line)
        #else
            print(sentence, place)
        #endif
    }

    private static func warn(_ sentence: String, at place: TestPlace) {
        #if canImport(Testing) && compiler(>=6.3)
            if isSwiftTesting {
                Issue.record(
                    Comment(rawValue: sentence), severity: .warning,
                    sourceLocation: place.location)
                return
            }
        #endif
        // XCTest has no warnings.
        print("warning: " + sentence, place)
    }

    private static func print(_ text: String, _ place: TestPlace) {
        let line = "\(place.filePath):\(place.line): \(text)\n"
        FileHandle.standardError.write(Data(line.utf8))
    }

    #if canImport(Testing)
        /// A detached task has no current test, but the command line tells which library runs it.
        private static var isSwiftTesting: Bool {
            if Test.current != nil { return true }
            let words = CommandLine.arguments
            return zip(words, words.dropFirst()).contains { name, value in
                name == "--testing-library" && value == "swift-testing"
            }
        }
    #endif
}

#if canImport(Testing)
    extension TestPlace {
        fileprivate var location: SourceLocation {
            SourceLocation(
                fileID: "\(fileID)", filePath: "\(filePath)", line: Int(line), column: Int(column))
        }
    }
#endif

import Foundation
import Testing

/// Compares `text` with the file `Snapshots/NAME` beside the tests.
///
/// With `FIRSTLIGHT_RECORD_SNAPSHOTS` in the environment the file is written anew instead, and
/// the test fails, so that recording is never mistaken for passing.
func expectSnapshot(
    _ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Snapshots")
    let file = folder.appending(path: name)
    if ProcessInfo.processInfo.environment["FIRSTLIGHT_RECORD_SNAPSHOTS"] != nil {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        Issue.record("recorded \(name)", sourceLocation: sourceLocation)
        return
    }
    let expected = try String(decoding: Data(contentsOf: file), as: UTF8.self)
    let (lines, wanted) = (text.split(separator: "\n"), expected.split(separator: "\n"))
    for (number, (line, want)) in zip(lines, wanted).enumerated() where line != want {
        Issue.record(
            "\(name), line \(number + 1) is\n\(line)\nnot\n\(want)",
            sourceLocation: sourceLocation)
        return
    }
    #expect(text == expected, sourceLocation: sourceLocation)
}

import Analysis
import MadeRecordings
import ProfileModel

/// What stacks of Python's have in recordings.
extension RecordingBuilder.Spot {
    static let python = Module.runtimePath("Python 3.11.2")

    static func imported(_ name: String) -> Self {
        Self("import " + name, python, file: ScriptPath.ofImports)
    }

    static func python(_ name: String, _ file: String, _ line: Int32 = 1) -> Self {
        Self(name, python, file: file, line: line)
    }
}

import Analysis
import MadeRecordings
import ProfileModel

/// A launch of Python's: a script of the developer's own that imports a module, which imports another.
enum MadePython {
    private typealias Spot = RecordingBuilder.Spot

    static let runtime = Module.runtimePath("Python 3.11.2")

    private static func function(_ name: String, _ file: String, _ line: Int32?) -> Spot {
        Spot(name, runtime, file: file, line: line)
    }

    private static func importing(_ name: String) -> Spot {
        function("import " + name, ScriptPath.ofImports, nil)
    }

    static var recording: Recording {
        var builder = RecordingBuilder(images: [("/usr/bin/python3", 1)])
        builder.border(.spawned, 0)
        builder.border(.ended, 60)
        let main = builder.thread("python3", tid: 100, to: 60, isMain: true)
        let start = Spot("Py_RunMain", "/usr/bin/python3")
        let script = function("<module>", "/home/dev/app.py", 3)
        let json = [
            start, script, importing("json"),
            function("<module>", "/usr/lib/python3.11/json/__init__.py", 106),
        ]
        builder.slice(main, at: 2, running: 8, builder.stack([start, script]))
        builder.slice(main, at: 10, running: 30, builder.stack(json))
        builder.slice(
            main, at: 40, running: 5, blocked: 10,
            builder.stack(
                json + [importing("re"), function("compile", "/usr/lib/python3.11/re.py", 7)]))
        builder.slice(
            main, at: 55, running: 5,
            builder.stack([
                start, function("main;<b>", "/home/dev/app.py", 9), Spot("vfs_read", "[kernel]"),
            ]))
        return builder.recording
    }
}

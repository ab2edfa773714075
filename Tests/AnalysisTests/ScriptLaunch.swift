import MadeRecordings
import ProfileModel
import TestSupport

@testable import Analysis

/// A launch of Python, made by hand: the first thread's slices one after the other from `main` on,
/// which it enters after 10 ms.
struct ScriptLaunch {
    typealias Spot = RecordingBuilder.Spot

    var builder: RecordingBuilder
    let main: ThreadIndex
    private(set) var time: Int64 = 10

    static let runtime = Module.runtimePath("Python 3.11.2")
    static let python = Spot("Py_RunMain", "/usr/bin/python3.11")

    init(program: String = "/usr/bin/python3.11", arguments: [String] = []) {
        builder = RecordingBuilder(images: [(program, 2)])
        builder.recording.images[0].arguments = [program] + arguments
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 2)
        builder.border(.relocated, 5)
        builder.border(
            .main, 10, ProcessCounters(minorFaults: 100, majorFaults: 0, readBytes: 0))
        main = builder.thread("python3", tid: 100, to: 10_000, isMain: true)
    }

    static func function(_ name: String, _ file: String, _ line: Int32 = 1) -> Spot {
        Spot(name, runtime, file: file, line: line)
    }

    static func module(_ file: String) -> Spot { function("<module>", file) }
    static func imported(_ name: String) -> Spot {
        Spot("import " + name, runtime, file: ScriptPath.ofImports)
    }

    static let app = module("/home/dev/app.py")

    /// Runs below the interpreter's `main`, a millisecond a slice.
    mutating func run(_ milliseconds: Int64, in spots: Spot..., under root: Spot? = python) {
        for _ in 0..<milliseconds {
            let stack = builder.stack([root].compactMap { $0 } + spots)
            builder.slice(main, at: time, running: 1, stack)
            time += 1
        }
    }

    /// Time of which no stack is known.
    mutating func lose(_ milliseconds: Int64) {
        builder.slice(main, at: time, running: milliseconds, nil, truncation: .lost)
        time += milliseconds
    }

    /// Start-up, and imports of the interpreter's own.
    mutating func start(_ milliseconds: Int64 = 8) {
        run(2)
        run(
            milliseconds - 2, in: Self.imported("site"),
            Self.module("/usr/lib/python3.11/site.py"))
    }

    var profile: Profile {
        var ended = builder
        ended.border(
            .ended, time, ProcessCounters(minorFaults: 300, majorFaults: 2, readBytes: 4096))
        return Profile(ended.recording)
    }

    /// "NAME START+WALL" in milliseconds, from Main on.
    var phases: [String] {
        profile.phases.filter { $0.group == .afterMain }.map {
            "\($0.name) \($0.start.nanoseconds / 1_000_000)+\($0.wall.nanoseconds / 1_000_000)"
        }
    }

    func findings(_ kind: Finding.Kind) -> [Finding] {
        profile.findings().filter { $0.kind == kind }
    }
}

import ProfileModel
import Symbolicate
import TestSupport
import Testing

/// The libraries of which others name symbols, in processes that load files of known content.
@Suite struct LibraryReferenceTests {
    private let folder: Scratch
    private let paths: [String]

    private enum File: Int, CaseIterable { case program, used, copied, idle, both }

    init() throws {
        folder = try Scratch()
        let sources = [
            "used": "int used(void) { return 1; }",
            "copied": "int copied = 7;",
            "idle": "int used(void); int idle(void) { return used(); }",
            "both": "int used(void) { return 2; } static int idle(void) { return 3; } "
                + "int local(void) { return idle(); }",
        ]
        for (name, source) in sources {
            try folder.write(source, to: "\(name).c")
            try folder.run(["gcc", "-shared", "-fPIC", "-o", "\(name).so", "\(name).c"])
        }
        try folder.write(
            "extern int copied; int used(void); int main(void) { return used() + copied; }",
            to: "program.c")
        try folder.run(
            ["gcc", "-no-pie", "-fno-pie", "-o", "program", "program.c", "used.so", "copied.so"])
        paths = ["program", "used.so", "copied.so", "idle.so", "both.so"].map(folder.path)
    }

    /// Each process maps some of the files, and has all but the program among its libraries.
    private func recording(_ processes: [(ChildIndex?, [File])]) -> Recording {
        let start = MonotonicTime(nanoseconds: 0)
        let header = Recording.Header(
            pid: 1, isAttached: false, capture: .untraced, frequency: 1_000)
        var recording = Recording(header: header)
        recording.modules = paths.map { Module(path: $0) }
        for (child, files) in processes {
            for file in files {
                let module = ModuleIndex(file.rawValue)
                recording.mappings.append(
                    Mapping(start: 0, end: 1, bias: 0, module: module, time: start, child: child))
                guard file != .program else { continue }
                recording.libraries.append(
                    LibraryLoad(
                        path: paths[file.rawValue], start: start, size: 1, isInitial: true,
                        child: child))
            }
        }
        return recording
    }

    private func references(_ processes: [(ChildIndex?, [File])]) -> [Int: Bool] {
        LibraryReferences(search: .none).find(in: recording(processes))
    }

    @Test func namedAndUnnamedReferences() {
        // In the order of the files, without the program; a file that defines a name again counts,
        // too.
        #expect(references([(nil, File.allCases)]) == [0: true, 1: true, 2: false, 3: true])
    }

    /// A name that only another process needs is none.
    @Test func processesAreApart() {
        let found = references([
            (nil, [.program, .used, .copied]), (ChildIndex(0), [.used, .copied]),
            (ChildIndex(1), [.idle, .used]),
        ])
        #expect(found == [0: true, 1: true, 2: false, 3: false, 4: false, 5: true])
    }

    /// The contents of a file that is gone are not known.
    @Test func aFileThatCannotBeRead() throws {
        try folder.run(["rm", "program"])
        try folder.run(["rm", "both.so"])
        #expect(references([(nil, File.allCases)]) == [0: true])
    }

    @Test func memoryThatIsNoFileNeedsNothing() {
        var recording = recording([(nil, [.program, .idle])])
        for path in ["[vdso]", "//anon", "[kernel]"] {
            recording.mappings.append(
                Mapping(
                    start: 0, end: 1, bias: 0, module: ModuleIndex(recording.modules.count),
                    time: MonotonicTime(nanoseconds: 0)))
            recording.modules.append(Module(path: path))
        }
        #expect(LibraryReferences(search: .none).find(in: recording) == [0: false])
    }
}

import Glibc
import ProfileModel
import Runtimes
import Symbolicate
import TestSupport
import Testing

/// Functions of scripts that were compiled from others.
@Suite struct ScriptOriginTests {
    private let files: Scratch
    private var folder: String { files.folder }

    init() throws {
        files = try Scratch()
        try files.run(["mkdir", "dist"])
    }

    private func write(_ text: String, _ name: String) throws {
        try files.write(text, to: name)
    }

    /// `a` was `hot` in the tenth line of `app.ts`.
    private static let map = MadeSourceMap(
        sources: ["../src/app.ts"], names: ["hot"],
        [
            MadeSourceMap.Segment(0, 0, from: 0, 0, 0),
            MadeSourceMap.Segment(0, 9, from: 0, 9, 16, name: 0),
        ])

    private static let script = "function a(b){return b}\n//# sourceMappingURL="

    /// What the functions of a perf map are called.
    private func names(_ entries: String...) -> [SourceFrame?] {
        var recording = Recording(
            header: Recording.Header(
                pid: 1, isAttached: false, capture: .untraced, frequency: 1_000))
        let frames = entries.indices.map {
            FrameAddress(module: nil, address: CodeAddress(UInt64($0 + 1) << 8, .instruction))
        }
        _ = recording.stacks.intern(outermostFirst: frames)
        let text = entries.enumerated().map { index, entry in
            "\(String((index + 1) << 8, radix: 16)) 10 \(entry)\n"
        }.joined()
        var origins = ScriptOrigins()
        PerfMap(Array(text.utf8)).name(&recording, &origins)
        return frames.map { recording.symbols.frames[$0]?.first }
    }

    private func frame(_ function: String, _ file: String, _ line: Int32?) -> SourceFrame {
        SourceFrame(function: function, file: file, line: line, isInlined: false)
    }

    @Test func aMapBesideTheScriptIsFollowed() throws {
        try write(Self.script + "app.js.map\n", "dist/app.js")
        try write(Self.map.json, "dist/app.js.map")
        let script = folder + "/dist/app.js"
        let found = names(
            "JS:*a \(script):1:11", "JS:~ file://\(script):1:1", "JS:~ \(script):2:7", "Builtin:x")
        let source = folder + "/src/app.ts"
        #expect(
            found == [
                frame("hot", source, 10), frame("<module>", source, 1),
                frame("(anonymous)", script, 2),
                SourceFrame(function: "Builtin:x", file: nil, line: nil, isInlined: false),
            ])
    }

    @Test func aMapInTheScriptIsFollowed() throws {
        let url = "data:application/json;base64," + MadeSourceMap.base64(Self.map.json)
        try write(Self.script + url, "dist/app.js")
        let found = names("JS:*a \(folder)/dist/app.js:1:11")
        #expect(found == [frame("hot", folder + "/src/app.ts", 10)])
    }

    @Test(arguments: ["none.map", "https://example.com/app.js.map", "/dev/zero", "app.js", ".", ""])
    func withoutAMapTheScriptIsShown(url: String) throws {
        try write(Self.script + url, "dist/app.js")
        let script = folder + "/dist/app.js"
        #expect(names("JS:*a \(script):1:11") == [frame("a", script, 1)])
    }

    @Test func onlyFreshMapsOfTheUsersAreRemoved() throws {
        try files.run(["mkdir", "tmp"])
        try write("1000 10 JS:~f /x.js:1:1\n", "tmp/perf-1.map")
        let path = folder + "/tmp/perf-1.map"
        let now = time(nil)
        #expect(PerfMap(path: path, owner: geteuid())?.isOfNode == true)
        func remove(_ pid: Int32, of owner: UInt32 = geteuid(), since start: Int) -> Bool {
            PerfMap.remove(
                PerfMapPlace(pid: pid, root: files.folder, owners: [owner]), writtenSince: start)
        }
        #expect(!remove(1, of: geteuid() &+ 1, since: now - 60))
        #expect(!remove(1, since: now + 60))
        symlink(path, folder + "/tmp/perf-2.map")
        #expect(!remove(2, since: now - 60))
        #expect(access(path, F_OK) == 0)
        #expect(remove(1, since: now - 60))
        #expect(access(path, F_OK) != 0)
        #expect(!PerfMap(Array("1000 10 py::f:/x.py\n".utf8)).isOfNode)
    }
}

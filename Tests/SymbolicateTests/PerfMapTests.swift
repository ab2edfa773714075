import Glibc
import ProfileModel
import Runtimes
import Symbolicate
import TestSupport
import Testing

@Suite struct PerfMapTests {
    private static let text = """
        1000 100 JS:~first /app/x.js:1:2
        2000 10 stub with spaces
        1080 40 JS:*second /app/x.js:7:1
        0x3000 0x20 prefixed

        """

    private func map(_ text: String) -> PerfMap { PerfMap(Array(text.utf8)) }

    @Test func theLastLineThatCoversCounts() {
        let names = map(Self.text).names(at: [
            0xFFF, 0x1000, 0x107F, 0x1080, 0x10BF, 0x10C0, 0x10FF, 0x1100, 0x200F, 0x2010, 0x3001,
        ])
        let first = "JS:~first /app/x.js:1:2"
        let second = "JS:*second /app/x.js:7:1"
        #expect(
            names == [
                0x1000: first, 0x107F: first, 0x1080: second, 0x10BF: second, 0x10C0: first,
                0x10FF: first, 0x200F: "stub with spaces", 0x3001: "prefixed",
            ])
    }

    @Test(arguments: [
        "", "\n\n", "1000", "1000 10", "1000 10 ", "x 10 f", "1000 y f", "+1000 10 f", "1000 -10 f",
        "ffffffffffffffff 2 f", "11111111111111111 1 f", "1000 0 f", " 1000 10 f", "1000  10 f",
    ])
    func invalidLinesAreLeftOut(text: String) {
        #expect(map(text).names(at: [0, 0x1000, 0x1001, .max]).isEmpty)
    }

    @Test func bytesAtRandomDoNoHarm() {
        var numbers = SeededNumbers(seed: 3)
        for _ in 0..<500 {
            var bytes = Array(Self.text.utf8)
            for _ in 0..<4 {
                let index = Int.random(in: 0..<bytes.count, using: &numbers)
                bytes[index] = UInt8.random(in: 0...255, using: &numbers)
            }
            let names = PerfMap(bytes).names(at: [0, 0x1000, 0x1080, 0x3000, .max])
            #expect(names.count <= 5)
        }
    }

    /// Every line covers every address: each address is named once.
    @Test func linesThatAllCoverTheSame() {
        let count = 20_000
        let text = String(repeating: "0 ffffffff f\n", count: count)
        let names = map(text).names(at: (0..<UInt64(count)).map { $0 })
        #expect(names.count == count)
    }

    @Test func onlyTheUsersOwnRegularFilesAreRead() throws {
        let folder = try Scratch()
        let path = try folder.write(Self.text, to: "perf-1.map")
        #expect(PerfMap(path: path, owner: geteuid()) != nil)
        #expect(PerfMap(path: path, owner: geteuid() &+ 1) == nil)
        try folder.run(["ln", "-s", "perf-1.map", "link"])
        #expect(PerfMap(path: folder.path("link"), owner: geteuid()) == nil)
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        #expect(PerfMap(path: folder.path("pipe"), owner: geteuid()) == nil)
        #expect(PerfMap(path: folder.path("none"), owner: geteuid()) == nil)
        try folder.run(["truncate", "-s", "65M", path])
        #expect(PerfMap(path: path, owner: geteuid()) == nil)
    }

    @Test func addressesOfARecording() {
        var recording = Recording(
            header: Recording.Header(
                pid: 1, isAttached: false, capture: .untraced, frequency: 1_000))
        recording.modules = [Module(path: "/usr/bin/node"), Module(path: "[anon:jit]")]
        recording.mappings = [
            Mapping(
                start: 0x3000, end: 0x4000, bias: 0x3000, module: ModuleIndex(1),
                time: MonotonicTime(nanoseconds: 0))
        ]
        func frame(_ module: Int?, _ value: UInt64, _ kind: CodeAddress.Kind) -> FrameAddress {
            FrameAddress(
                module: module.map { ModuleIndex($0) }, address: CodeAddress(value, kind))
        }
        let frames = [
            frame(0, 0x1000, .instruction), frame(nil, 0x1000, .instruction),
            frame(nil, 0x1100, .returnAddress), frame(1, 0x1, .instruction),
            frame(nil, 0x9000, .instruction),
        ]
        _ = recording.stacks.intern(outermostFirst: frames)
        var origins = ScriptOrigins()
        map(Self.text).name(&recording, &origins)
        let names = frames.map { recording.symbols.frames[$0]?.first?.function }
        let first = "first"
        let symbol = recording.symbols.frames[frames[1]]?.first
        #expect(symbol?.file == "/app/x.js")
        #expect(symbol?.line == 1)
        #expect(names == [nil, first, first, "prefixed", nil])
    }

    /// Of processes that use the same map, one after the other, it is the last one's.
    @Test func aMapIsTheNewestProcess() throws {
        let folder = try Scratch()
        try folder.run(["mkdir", "tmp"])
        try folder.write("1000 100 function\n", to: "tmp/perf-1.map")
        var recording = Recording(
            header: Recording.Header(
                pid: 70, isAttached: false, capture: .untraced, frequency: 1_000))
        recording.modules = (0..<2).map { _ in Module(path: "[anon:code]") }
        recording.children = [71, 72].map {
            ChildProcess(
                pid: $0, parent: 70, name: "jit", start: MonotonicTime(nanoseconds: 0),
                outcome: .running)
        }
        recording.mappings = (0..<2).map {
            Mapping(
                start: 0x1000, end: 0x2000, bias: 0, module: ModuleIndex($0),
                time: MonotonicTime(nanoseconds: 0), child: ChildIndex($0))
        }
        let frames = (0..<2).map {
            FrameAddress(module: ModuleIndex($0), address: CodeAddress(0x1000, .instruction))
        }
        _ = recording.stacks.intern(outermostFirst: frames)
        let place = PerfMapPlace(pid: 1, root: folder.folder, owners: [geteuid()])
        PerfMaps(at: [71: place, 72: place], node: nil).name(&recording)
        let names = frames.map { recording.symbols.frames[$0]?.first?.function }
        #expect(names == [nil, "function"])
    }

    /// Ids come again, in containers above all.
    @Test(arguments: [-60, 60]) func aMapOfAnEarlierProcessIsNone(begun: Int) throws {
        let folder = try Scratch()
        try folder.run(["mkdir", "tmp"])
        try folder.write("1000 100 function\n", to: "tmp/perf-1.map")
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let place = PerfMapPlace(
            pid: 1, root: folder.folder, owners: [geteuid()], since: now.tv_sec + begun)
        #expect((PerfMap(at: place) != nil) == (begun < 0))
    }
}

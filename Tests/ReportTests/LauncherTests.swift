import Analysis
import MadeRecordings
import ProfileModel
import Testing

@testable import Report

/// Reports of a launch whose first thread only waits for another one.
@Suite struct LauncherTests {
    /// `main` at 20 ms; the first thread makes the program's at 60 ms and joins it until 980.
    private static func recording(name: String = "program") -> Recording {
        typealias Spot = RecordingBuilder.Spot
        var builder = RecordingBuilder(images: [("/home/dev/launcher", 2)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 2)
        builder.border(.relocated, 12)
        builder.border(.main, 20)
        builder.border(.ended, 1000)
        let first = builder.thread("launcher", tid: 100, to: 1000, isMain: true)
        let other = builder.thread(name, tid: 101, from: 60, to: 979)
        let helper = builder.thread("helper", tid: 102, from: 300, to: 979)
        let launch = [Spot("_start"), Spot("main", file: "/src/launcher.c", line: 9)]
        let run = [Spot("start_thread"), Spot("run", file: "/src/program.c", line: 3)]
        builder.slice(first, at: 2, running: 18, builder.stack("_dl_start"))
        builder.slice(first, at: 20, running: 40, builder.stack(launch + [Spot("openLibrary")]))
        let join = builder.stack(launch + [Spot("pthread_join", "/usr/lib/libc.so.6")])
        builder.slice(first, at: 60, blocked: 920, join, call: 202)
        builder.wait(
            first, from: 60, to: 980, WaitReason(.condition, detail: "end of a thread", owner: 101),
            join)
        builder.slice(first, at: 980, running: 20, builder.stack(launch + [Spot("exit")]))
        builder.slice(other, at: 60, running: 240, builder.stack(run + [Spot("parse")]))
        let sleep = builder.stack(run + [Spot("settle"), Spot("nanosleep", "/usr/lib/libc.so.6")])
        builder.slice(other, at: 300, blocked: 200, sleep, call: 35)
        builder.wait(other, from: 300, to: 500, WaitReason(.sleep), call: 35, sleep)
        builder.slice(other, at: 500, running: 479, builder.stack(run + [Spot("draw")]))
        builder.slice(helper, at: 300, running: 190, blocked: 489, builder.stack("help"), call: 202)
        return builder.recording
    }

    private func text(_ view: View = .full) -> String {
        var options = TextOptions()
        options.width = 110
        return TextReport.render(Profile(Self.recording()), view: view, options: options)
    }

    @Test(arguments: [View.full, .threads, .criticalPath])
    func views(view: View) throws {
        try expectSnapshot(text(view), "launcher-\(view.rawValue).txt")
    }

    @Test func oneLineSaysSo() {
        let line = "main thread: program (101), because the first thread only waits for it"
        #expect(text().contains("\n  \(line) (from 60.0 ms on)\n"))
        #expect(!text().contains("end of a thread"))
    }

    @Test func json() {
        let report = JSONReport.text(Profile(Self.recording()))
        let ms = "000000"
        #expect(
            report.contains(
                "\"mainThread\":[{\"tid\":100,\"startNs\":0,\"wallNs\":60\(ms)},"
                    + "{\"tid\":101,\"startNs\":60\(ms),\"wallNs\":920\(ms)},"
                    + "{\"tid\":100,\"startNs\":980\(ms),\"wallNs\":20\(ms)}]"))
    }

    /// The page's main thread is that one, too, and its notes say so.
    @Test func thePage() {
        let profile = Profile(Self.recording())
        let data = PageData(profile, SourceLines()).render()
        let page = String(decoding: data, as: UTF8.self)
        #expect(page.contains("\"tid\":100,\"name\":\"launcher\",\"isMain\":false"))
        #expect(page.contains("\"tid\":101,\"name\":\"program\",\"isMain\":true"))
        #expect(page.contains("main thread: program (101), because the first thread only waits"))
    }

    @Test func hostileNames() {
        let profile = Profile(Self.recording(name: "\u{1b}[2J\u{202e}"))
        let report = TextReport.render(profile, view: .full, options: TextOptions())
        #expect(report.contains("main thread: \\u{1b}[2J\\u{202e} (101), because"))
    }
}

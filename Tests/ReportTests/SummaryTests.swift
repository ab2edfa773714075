import Analysis
import Exports
import Foundation
import MadeRecordings
import ProfileModel
import TestSupport
import Testing

@testable import Report

/// The answer: how long it is, and that text and Markdown say the same.
@Suite struct SummaryTests {
    /// Launches by chance, and one whose names have any length and try to be something else.
    private static let recordings: [Recording] =
        (1...20).map { RecordingBuilder.random(seed: $0) } + [StarSearcher.recording(), hostile]

    private static var hostile: Recording {
        var recording = RecordingBuilder.random(seed: 7)
        let name = "<b>|*x*|\u{1b}[31m" + String(repeating: "very_long_", count: 400)
        recording.images[0].path = "/opt/" + name
        recording.images[0].arguments = [name, name, "# heading"]
        for index in recording.threads.indices { recording.threads[index].name = name }
        return recording
    }

    @Test(arguments: recordings.indices) func atMostFortyLines(index: Int) {
        let profile = Profile(Self.recordings[index])
        for width in [100, 140] {
            var options = TextOptions()
            options.width = width
            let text = TextReport.render(profile, options: options)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count - 1 <= SummaryView.mostLines, "\(text)")
            #expect(lines.allSatisfy { String($0).displayWidth <= width }, "\(text)")
        }
    }

    @Test(arguments: recordings.indices, [1000, 6000, 100_000])
    func markdownKeepsToItsBudget(index: Int, budget: Int) {
        let text = MarkdownReport(Profile(Self.recordings[index])).render(budget: budget)
        #expect(text.utf8.count <= budget)
        #expect(text.hasPrefix("# ") && text.hasSuffix("\n"))
    }

    /// No name has an effect as markup.
    @Test func namesStayText() {
        let text = MarkdownReport(Profile(Self.hostile)).render(budget: 100_000)
        #expect(!text.contains("<b>") && !text.contains("\u{1b}"))
        #expect(text.contains("&lt;b&gt;\\|\\*x\\*\\|"))
        #expect(!text.contains("\n# heading"))
        for line in text.split(separator: "\n") where line.hasPrefix("| ") {
            #expect(line.replacing("\\|", with: "").count(where: { $0 == "|" }) >= 5)
        }
    }

    /// The figures of the phases, the findings and the path are the same everywhere.
    @Test func textAndMarkdownSayTheSame() throws {
        let profile = Profile(StarSearcher.recording())
        let text = TextReport.render(profile, options: TextOptions())
        let markdown = MarkdownReport(profile).render()
        let answer = Answer(profile)
        #expect(!answer.findings.isEmpty)
        for finding in answer.findings.prefix(3) {
            let figure = answer.point(finding).what.prefix { $0 != ":" }
            #expect(text.contains(figure) && markdown.contains(figure), "\(figure)")
        }
        for line in answer.phaseLines(most: 8) {
            let words = [line.name, Numbers.cell(line.wall), Numbers.cell(line.cpu)]
            let inText = text.split(separator: "\n").contains { row in
                words.allSatisfy(row.contains)
            }
            let inMarkdown = markdown.split(separator: "\n").contains { row in
                row.hasPrefix("| ") && words.allSatisfy(row.contains)
            }
            #expect(inText && inMarkdown, "\(words)")
        }
        let path = try #require(AnswerPath(answer))
        #expect(text.contains(path.caption) && markdown.contains(path.caption))
    }

    /// The figures for programs and the page, in nanoseconds.
    @Test(arguments: recordings.indices) func dataHasTheSameFigures(index: Int) throws {
        struct Data: Decodable {
            struct Finding: Decodable {
                var savingNs: Int64?
                var saving: Int64?
            }
            struct Phase: Decodable {
                var name: String
                var wallNs: Int64?
                var wall: Int64?
            }
            var phases: [Phase]
            var findings: [Finding]
        }
        let profile = Profile(Self.recordings[index])
        let savings = profile.findings().map(\.saving.nanoseconds)
        let walls = profile.phases.map(\.wall.nanoseconds)
        let report = try JSONDecoder().decode(
            Data.self, from: Foundation.Data(JSONReport.text(profile).utf8))
        #expect(report.findings.map(\.savingNs) == savings)
        #expect(report.phases.map(\.wallNs) == walls)
        let page = try JSONDecoder().decode(
            Data.self, from: Foundation.Data(PageData(profile).render()))
        #expect(page.findings.map(\.saving) == savings)
        #expect(page.phases.map(\.wall) == walls)
        #expect(Answer(profile).findings.allSatisfy { savings.contains($0.saving.nanoseconds) })
    }

    /// Phases in one line have the sum of their single figures.
    @Test(arguments: recordings.indices, 2...6) func phaseLinesAddUp(index: Int, most: Int) {
        let profile = Profile(Self.recordings[index])
        let lines = Answer(profile).phaseLines(most: most)
        #expect(lines.count <= most)
        #expect(lines.reduce(.zero) { $0 + $1.wall } == profile.launch.wall)
        #expect(
            lines.reduce(.zero) { $0 + $1.cpu } == profile.phases.reduce(.zero) { $0 + $1.cpu })
    }

    @Test func whereNothingStandsOutThatIsSaid() {
        var builder = RecordingBuilder()
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 1)
        builder.border(.main, 2)
        builder.border(.ended, 100)
        let main = builder.thread("app", tid: 1, to: 100, isMain: true)
        builder.slice(main, at: 0, running: 96, blocked: 4, builder.stack("main", "work"))
        let text = TextReport.render(Profile(builder.recording))
        #expect(
            text.contains(
                "no finding, but most of Main is in work: 94.1 ms of its 94.1 ms of CPU; the main "
                    + "thread ran for\n    96.0 ms, waited for 4.0 ms; most of the launch (98.0 ms) is "
                    + "Main\n"),
            "\(text)")
    }

    /// The waker at the end of a wait that is most of the launch is named, even if the wait is no
    /// finding.
    @Test(arguments: [(60, true), (45, false)] as [(Int64, Bool)])
    func theWakerOfTheLongestWaitIsNamed(blocked: Int64, isMost: Bool) {
        var builder = RecordingBuilder()
        builder.recording.header.account = .wakeups
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 1)
        builder.border(.main, 2)
        builder.border(.ended, 100)
        let main = builder.thread("app", tid: 1, to: 100, isMain: true)
        let end = 10 + blocked
        builder.slice(main, at: 10, blocked: blocked, builder.stack("main"), call: 7)
        builder.wait(main, from: 10, to: end, WaitReason(.poll), call: 7, builder.stack("main"))
        builder.slice(main, at: end, running: 100 - end, builder.stack("main"))
        builder.recording.wakeups.append(
            Wakeup(
                thread: main, time: RecordingBuilder.at(end), waker: 77, wakerName: "server",
                wakerThread: nil, isInterrupt: false))
        let text = TextReport.render(Profile(builder.recording))
        #expect(text.contains(", mostly for server (77)") == isMost, "\(text)")
        #expect(text.contains("; most of the launch (98.0 ms) is Main"), "\(text)")
    }

    /// The kernel's own steps are shown in full on request.
    @Test func thePathEndsSoonInTheKernel() throws {
        var builder = RecordingBuilder()
        builder.border(.spawned, 0)
        builder.border(.main, 2)
        builder.border(.ended, 100)
        let main = builder.thread("app", tid: 1, to: 100, isMain: true)
        let kernel = ["__x64_sys_openat", "do_filp_open", "path_openat", "link_path_walk"]
        typealias Spot = RecordingBuilder.Spot
        let path = [Spot("main"), Spot("require")] + kernel.map { Spot($0, "[kernel]") }
        builder.slice(main, at: 2, running: 98, builder.stack(path))
        let profile = Profile(builder.recording)
        let names = try #require(AnswerPath(Answer(profile)))
            .entries(of: profile.frames, most: 10).map {
                profile.frames.function(of: $0.frame).name
            }
        #expect(names == ["main", "require", "__x64_sys_openat", "do_filp_open"])
    }

    /// A library without names is a step of the way, once; the program's own nameless functions are none.
    @Test func thePathHasLibrariesWithoutNames() throws {
        var builder = RecordingBuilder(images: [("/usr/bin/gimp", 0)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 1)
        builder.border(.main, 2)
        builder.border(.ended, 100)
        let main = builder.thread("gimp", tid: 1, to: 100, isMain: true)
        typealias Spot = RecordingBuilder.Spot
        let path = [
            Spot("main", "/usr/bin/gimp"), Spot(nil, "/usr/bin/gimp"),
            Spot("parse", "/usr/lib/libglib.so"), Spot(nil, "/usr/lib/libbabl.so"),
            Spot(nil, "/usr/lib/libbabl.so"), Spot("memset", "/usr/lib/libc.so.6"),
        ]
        builder.slice(main, at: 2, running: 98, builder.stack(path))
        let profile = Profile(builder.recording)
        let answer = Answer(profile)
        let modules = try #require(AnswerPath(answer)).entries(of: profile.frames, most: 10).map {
            profile.frames.function(of: $0.frame).module
        }
        #expect(modules == ["libglib.so", "libbabl.so", "libc.so.6"])
    }

    /// For a stripped program the summary names the called libraries, and the place of the missing
    /// names.
    @Test func aProgramWithoutNames() {
        var builder = RecordingBuilder(images: [("/usr/bin/git", 0)])
        builder.border(.spawned, 0)
        builder.border(.main, 2)
        builder.border(.ended, 100)
        let main = builder.thread("git", tid: 1, to: 100, isMain: true)
        typealias Spot = RecordingBuilder.Spot
        let program = Spot(nil, "/usr/bin/git")
        builder.slice(main, at: 2, running: 50, builder.stack([program]))
        builder.slice(
            main, at: 60, running: 30,
            builder.stack([program, Spot("fstatat", "/usr/lib/libc.so.6")]))
        let text = TextReport.render(Profile(builder.recording), options: TextOptions())
        #expect(
            text.contains(
                "git's functions have no names: it computed 50.0 ms itself, 30.0 ms in fstatat"))
        #expect(text.contains("--view modules") && text.contains("where names of git's"))
    }

    /// A command's purpose comes behind it, however long another command is.
    @Test func aCommandThatIsTooLongHasItsPurpose() throws {
        var builder = RecordingBuilder(images: [("/usr/bin/vim", 0)])
        builder.border(.spawned, 0)
        builder.border(.ended, 1000)
        let main = builder.thread("vim", tid: 7, to: 1000, isMain: true)
        let stack = builder.stack("main", "mch_delay")
        builder.slice(main, at: 100, blocked: 700, stack)
        var recording = builder.recording
        recording.header.account = .wakeups
        recording.notes = [RecorderNote(.unrecordedChildren, 308)]
        let file = "/a/rather/long/path/of/a/recording.firstlight"
        var options = TextOptions()
        options.file = file
        let text = TextReport.render(Profile(recording), options: options)
        let next = text.split(separator: "\n").filter { $0.contains(" firstlight ") }
        #expect(next.count == 2)
        #expect(next.first?.hasSuffix("what the children did)") == true, "\(text)")
        #expect(next.allSatisfy { !$0.contains("(a…") && $0.count <= 100 })
    }

    /// Own functions stay, whatever their names; so do a compiler's functions with a shell's names.
    @Test func thePathKeepsWhatIsNoEntry() throws {
        var builder = RecordingBuilder()
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 1)
        builder.border(.main, 2)
        builder.border(.ended, 100)
        let main = builder.thread("app", tid: 1, to: 100, isMain: true)
        builder.slice(
            main, at: 2, running: 98,
            builder.stack("_start", "main", "clone_repository", "_start_server", "execute_plan"))
        let profile = Profile(builder.recording)
        let path = try #require(AnswerPath(Answer(profile)))
        let names = path.entries(of: profile.frames, most: 10).map {
            profile.frames.function(of: $0.frame).name
        }
        #expect(names == ["main", "clone_repository", "_start_server", "execute_plan"])
    }
}

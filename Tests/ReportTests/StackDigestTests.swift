import Analysis
import MadeRecordings
import ProfileModel
import Testing

@testable import Report

/// The rows shown for long stacks.
@Suite struct StackDigestTests {
    private typealias Spot = RecordingBuilder.Spot

    private static let (gtk, epoxy, linker) = (
        "/usr/lib/libgtk.so", "/usr/lib/libepoxy.so", "/lib/ld-linux-x86-64.so.2"
    )

    /// A program of the system's, thirty functions of a toolkit's that pass all on, one that does a
    /// third itself, and the dynamic linker far below another library.
    private static var recording: Recording {
        var builder = RecordingBuilder(attached: true)
        builder.border(.attached, 0)
        builder.border(.ended, 1000)
        let main = builder.thread("app", tid: 7, to: 1000, isMain: true)
        let outer =
            [Spot("_start", "/usr/bin/app"), Spot("main", "/usr/bin/app")]
            + (0..<15).map { Spot("outer\($0)", gtk) }
        let divided = outer + [Spot("divide", gtk)] + (0..<12).map { Spot("middle\($0)", gtk) }
        let inner =
            divided + [Spot(nil, epoxy), Spot("epoxy_glx_version", epoxy)]
            + (0..<20).map { Spot("dl\($0)", linker) }
        builder.slice(main, at: 0, running: 340, builder.stack(outer))
        builder.slice(main, at: 340, running: 660, builder.stack(inner))
        return builder.recording
    }

    private func names(_ rows: [StackDigest.Row], _ profile: Profile) -> [String] {
        rows.map { row in
            switch row {
            case .frame(let entry): profile.frames.function(of: entry.frame).name
            case .elided(let count): "… \(count)"
            }
        }
    }

    @Test func dropsAndBordersOfModulesStay() {
        let profile = Profile(Self.recording)
        let stack = profile.heaviestStack(weight: .cpu)
        let rows = StackDigest(path: stack.entries, weight: .cpu, frames: profile.frames).rows()
        let shown = names(rows, profile)
        // Where the toolkit is entered, where the weight drops, and the next libraries by functions
        // that have names.
        for name in ["_start", "main", "outer0", "divide", "epoxy_glx_version", "dl0", "dl19"] {
            #expect(shown.contains(name), "\(shown)")
        }
        #expect(!shown.contains("outer7") && !shown.contains("dl7"))
        #expect(shown.count < 20)
        // Nothing is lost.
        let count = rows.reduce(0) { sum, row in
            if case .elided(let count) = row { sum + count } else { sum + 1 }
        }
        #expect(count == stack.entries.count)
    }

    @Test func manyBordersStayReadable() {
        var builder = RecordingBuilder(attached: true)
        builder.border(.attached, 0)
        builder.border(.ended, 1000)
        let main = builder.thread("app", tid: 7, to: 1000, isMain: true)
        let spots = (0..<300).map { Spot("f\($0)", "/usr/lib/lib\($0 % 7).so") }
        builder.slice(main, at: 0, running: 1000, builder.stack(spots))
        let profile = Profile(builder.recording)
        let stack = profile.heaviestStack(weight: .cpu)
        let rows = StackDigest(path: stack.entries, weight: .cpu, frames: profile.frames).rows()
        #expect(rows.count <= 32)
    }
}

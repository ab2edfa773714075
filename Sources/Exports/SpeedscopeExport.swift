import Analysis
import ProfileModel

/// speedscope's own file format: a profile for each thread, with samples in the order of time and
/// weights in nanoseconds.
struct SpeedscopeExport {
    private let profile: Profile
    private let options: ExportOptions

    init(_ profile: Profile, _ options: ExportOptions) {
        self.profile = profile
        self.options = options
    }

    func render() -> [UInt8] {
        var charges = [[(stack: Int, time: TimeSpan)]](
            repeating: [], count: profile.threads.count)
        for stretch in profile.stretches(in: options.selection) {
            charges[stretch.thread] += stretch.charges(by: options.weight)
        }
        let threads = charges.indices.filter { !charges[$0].isEmpty }
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("$schema", "https://www.speedscope.app/file-format-schema.json")
            writer.field("name", profile.program.name)
            writer.field("exporter", "firstlight")
            if !threads.isEmpty { writer.field("activeProfileIndex", 0) }
            writer.key("shared")
            writer.object { writer in
                writer.key("frames")
                writer.array(profile.frames.frames, inLines: true) { frame($1, &$0) }
            }
            writer.key("profiles")
            writer.array(threads, inLines: true) { writer, thread in
                samples(charges[thread], of: profile.threads[thread], &writer)
            }
        }
        writer.endLine()
        return writer.bytes
    }

    private func frame(_ frame: Frame, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("name", profile.frames[frame.function].name)
            if let file = frame.file { writer.field("file", file) }
            if let line = frame.line { writer.field("line", line) }
        }
    }

    private func samples(
        _ charges: [(stack: Int, time: TimeSpan)], of thread: ThreadFigures,
        _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.field("type", "sampled")
            writer.field("name", "\(thread.name) (\(thread.tid))")
            writer.field("unit", "nanoseconds")
            writer.field("startValue", 0)
            writer.field("endValue", charges.reduce(.zero) { $0 + $1.time })
            writer.key("samples")
            writer.array(charges) { writer, charge in
                writer.array(profile.frames(ofStack: charge.stack)) { $0.value($1.rawValue) }
            }
            writer.key("weights")
            writer.array(charges) { $0.value($1.time) }
        }
    }
}

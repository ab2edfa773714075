import Analysis
import Exports
import ProfileModel

extension JSONReport {
    static func finding(_ profile: Profile, _ finding: Finding, _ writer: inout JSONWriter) {
        let words = FindingWords(profile: profile, finding: finding)
        let frame = profile.frames[finding.place]
        writer.object { writer in
            writer.field("kind", finding.kind.rawValue)
            writer.field("title", words.title)
            writer.field("savingNs", finding.saving)
            writer.field("tid", profile.threads[finding.thread].tid)
            writer.field("phase", profile.phase(of: finding).map { profile.phases[$0].name })
            writer.field("function", profile.frames[frame.function].name)
            writer.field("file", frame.file)
            writer.field("line", frame.line)
            writer.field("advice", words.advice)
            writer.key("details")
            writer.array(words.details) { $0.value($1) }
            writer.key("stack")
            writer.array(finding.stack) { place(profile.frames, $1, &$0) }
            writer.key("waitedFor")
            counterpart(profile, finding.counterpart, &writer)
        }
    }

    private static func counterpart(
        _ profile: Profile, _ other: Counterpart?, _ writer: inout JSONWriter
    ) {
        guard let other else { return writer.value(String?.none) }
        writer.object { writer in
            writer.field("tid", profile.threads[other.thread].tid)
            writer.field("known", other.basis.rawValue)
            states(other.times, &writer)
            writer.key("stack")
            writer.array(other.stack) { place(profile.frames, $1, &$0) }
        }
    }
}

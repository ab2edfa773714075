import Analysis
import Exports
import ProfileModel

/// The critical path: what decided how long the launch took.
extension JSONReport {
    static func segment(
        _ profile: Profile, _ segment: CriticalPath.Segment, _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.field("tid", profile.threads[segment.thread].tid)
            writer.field("startNs", segment.start)
            writer.field("durationNs", segment.duration)
            writer.field("state", segment.state?.name)
            writer.field("stretches", segment.stretches)
            writer.key("stack")
            writer.array(segment.stack.reversed()) { place(profile.frames, $1, &$0) }
            let waker = segment.wakeup.flatMap { $0.isInterrupt || $0.waker == 0 ? nil : $0.waker }
            writer.field("wokenByTid", waker)
        }
    }
}

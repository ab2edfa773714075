import Analysis
import Exports
import ProfileModel

/// The threads' waits, and their states over time.
extension JSONReport {
    static func event(_ profile: Profile, _ wait: WaitFigures, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("tid", profile.threads[wait.thread].tid)
            writer.field("pid", profile.processes[profile.process(ofThread: wait.thread)].pid)
            writer.field("startNs", wait.start)
            writer.field("durationNs", wait.duration)
            writer.key("reason")
            writer.object { writer in
                writer.field("kind", wait.reason.kind.rawValue)
                writer.field("detail", wait.reason.detail)
                writer.field("ownerTid", wait.reason.owner)
            }
            writer.key("stack")
            writer.array(profile.stack(of: wait)) { place(profile.frames, $1, &$0) }
            writer.key("endedBy")
            guard let waker = wait.endedBy else { return writer.value(String?.none) }
            writer.object { writer in
                writer.field("tid", waker.tid)
                writer.field("name", waker.name)
            }
        }
    }

    /// A frame without figures.
    static func place(_ frames: FrameTable, _ id: FrameID, _ writer: inout JSONWriter) {
        let frame = frames[id]
        let function = frames[frame.function]
        writer.object { writer in
            writer.field("function", function.name)
            writer.field("module", function.module)
            writer.field("file", frame.file)
            writer.field("line", frame.line)
            writer.field("own", function.isOwn)
            writer.field("language", function.language?.rawValue)
            writer.field("inlined", frame.isInlined)
        }
    }

    static func timeline(
        _ thread: ThreadFigures, _ runs: [StateRun], _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.field("tid", thread.tid)
            writer.key("runs")
            writer.array(runs) { writer, run in
                writer.tuple {
                    $0.value(run.start)
                    $0.value(run.length)
                    $0.value(run.state.name)
                }
            }
        }
    }

    static func priority(_ priority: PriorityFigures?, _ writer: inout JSONWriter) {
        guard let priority else { return writer.value(String?.none) }
        writer.object { fields(of: priority, &$0) }
    }

    static func priority(
        _ profile: Profile, _ priority: PriorityFigures, _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.field("tid", profile.threads[priority.thread].tid)
            writer.field("atNs", priority.time)
            fields(of: priority, &writer)
        }
    }

    private static func fields(of priority: PriorityFigures, _ writer: inout JSONWriter) {
        writer.field("policy", priority.policyName)
        writer.field("nice", priority.hasNice ? priority.nice : nil)
        writer.field("realTime", priority.isRealTime ? priority.realTime : nil)
    }

    static func note(_ note: (kind: String, text: String), _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("kind", note.kind)
            writer.field("text", note.text)
        }
    }
}

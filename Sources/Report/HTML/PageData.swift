import Analysis
import Exports
import ProfileModel

/// The page's data about a launch, as JSON. Lists are in columns, and columns contain differences,
/// which compress well. `Page/launch.js` reads it.
///
/// Times are in nanoseconds from the launch's start. Positions in lists begin at 0; -1 is none.
/// Texts are already escaped for display.
struct PageData {
    let profile: Profile
    private let sources: SourceLines

    init(_ profile: Profile, _ sources: SourceLines = SourceLines()) {
        self.profile = profile
        self.sources = sources
    }

    /// UTF-8.
    func render() -> [UInt8] {
        var writer = JSONWriter()
        let extent = PageExtent(profile)
        writer.object { writer in
            program(extent, &writer)
            phases(&writer)
            threads(extent, &writer) { writer, thread in
                writer.key("stretches")
                columns(of: extent.stretches.lists[thread], &writer)
                writer.key("scattered")
                columns(of: extent.stretches.scattered[thread], &writer)
            }
            writer.functions(profile.frames.functions)
            frames(&writer)
            nodes(&writer)
            facts(extent, &writer)
            findings(&writer)
            answer(&writer)
            source(&writer)
        }
        return writer.bytes
    }

    /// The data of a timeline, as an object: all except stacks.
    func timeline(_ extent: PageExtent, _ writer: inout JSONWriter) {
        writer.object { writer in
            program(extent, &writer)
            phases(&writer)
            threads(extent, &writer) { _, _ in }
            facts(extent, &writer)
        }
    }

    // MARK: The launch

    private func program(_ extent: PageExtent, _ writer: inout JSONWriter) {
        var options = TextOptions()
        options.width = 10_000
        let head = HeaderSection(profile: profile, options: options)
        writer.text("program", profile.title)
        writer.text("command", profile.program.arguments.joined(separator: " "))
        writer.field("wall", profile.launch.wall)
        writer.key("figures")
        writer.array(head.figures) { $0.value($1) }
        let essentials = head.essentials
        writer.key("essentials")
        writer.array(essentials) { $0.value($1.escapedForDisplay) }
        writer.key("notes")
        let others = head.notes.dropFirst(essentials.count) + extent.notes
        writer.array(others) { $0.value($1.escapedForDisplay) }
        writer.key("ready")
        guard let ready = profile.ready else { return writer.value(String?.none) }
        writer.object {
            $0.field("time", ready.time)
            $0.text("by", ready.by)
        }
    }

    private func phases(_ writer: inout JSONWriter) {
        writer.key("phases")
        writer.array(profile.phases) { writer, phase in
            writer.object {
                $0.text("name", phase.name)
                $0.field("beforeMain", phase.group == .beforeMain)
                $0.field("start", phase.start)
                $0.field("wall", phase.wall)
                $0.field("cpu", phase.cpu)
                $0.field("minorFaults", phase.counters.minorFaults)
                $0.field("majorFaults", phase.counters.majorFaults)
                $0.field("readBytes", phase.counters.readBytes)
            }
        }
    }

    // MARK: Threads

    /// - Parameter more: writes further members for a thread, given by its position.
    private func threads(
        _ extent: PageExtent, _ writer: inout JSONWriter,
        more: (inout JSONWriter, Int) -> Void
    ) {
        writer.key("threads")
        writer.array(profile.threads.indices) { writer, index in
            let thread = profile.threads[index]
            writer.object {
                $0.field("tid", thread.tid)
                $0.text("name", thread.name)
                $0.field("isMain", index == profile.mainThread.usual)
                $0.field("process", profile.process(ofThread: index))
                $0.field("start", thread.start)
                $0.field("end", thread.end)
                $0.text("priority", thread.priorities.last?.words ?? "")
                more(&$0, index)
                $0.key("runs")
                columns(of: extent.runs.lists[index], &$0)
            }
        }
    }

    /// Stretches without a fixed position: `length` is the length of the part of the launch that
    /// contains them.
    private func columns(of scattered: [ScatteredStretch], _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.differences("start", scattered) { $0.stretch.start.nanoseconds }
            writer.column("length", scattered) { ($0.end - $0.stretch.start).nanoseconds }
            columns(ofKindsAndTimes: scattered.map(\.stretch), &writer)
        }
    }

    /// `gap` is the distance from the previous stretch. `wait` is the position of the frame for the
    /// reason of the wait, relative to the stack's.
    private func columns(of stretches: [Stretch], _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.gaps(stretches) { ($0.start, $0.end) }
            columns(ofKindsAndTimes: stretches, &writer)
        }
    }

    private func columns(ofKindsAndTimes stretches: [Stretch], _ writer: inout JSONWriter) {
        writer.differences("phase", stretches) { Int64($0.phase) }
        writer.column("running", stretches) { $0.times.running.nanoseconds }
        writer.column("runnable", stretches) { $0.times.runnable.nanoseconds }
        writer.column("preempted", stretches) { $0.times.preempted.nanoseconds }
        writer.column("blocked", stretches) { $0.times.blocked.nanoseconds }
        writer.differences("stack", stretches) { Int64($0.stack) }
        writer.column("wait", stretches) {
            Int64(($0.waitStack ?? $0.stack) - $0.stack)
        }
    }

    private func columns(of runs: [StateRun], _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.gaps(runs) { ($0.start, $0.end) }
            writer.column("length", runs) { $0.length.nanoseconds }
            writer.column("state", runs) { Int64($0.state.rank) }
        }
    }

    // MARK: Stacks

    private func frames(_ writer: inout JSONWriter) {
        let frames = profile.frames.frames
        var files = StringTable()
        let positions = frames.map { $0.file.map { Int64(files($0.escapedForDisplay)) } }
        writer.key("files")
        writer.array(files.list) { $0.value($1) }
        writer.key("frames")
        writer.object { writer in
            writer.column("function", frames) { Int64($0.function.rawValue) }
            writer.column("file", positions) { $0 ?? -1 }
            writer.column("line", frames) { Int64($0.line ?? 0) }
            writer.column("inlined", frames) { $0.isInlined ? 1 : 0 }
        }
    }

    private func nodes(_ writer: inout JSONWriter) {
        let nodes = profile.stackNodes
        writer.key("nodes")
        writer.object { writer in
            // The distance back to the caller; 0: there is none.
            writer.column("caller", Array(nodes.enumerated())) { index, node in
                Int64(node.parent.map { index - $0 } ?? 0)
            }
            writer.differences("frame", nodes) { Int64($0.frame.rawValue) }
        }
    }

    // MARK: Source

    private func source(_ writer: inout JSONWriter) {
        writer.key("source")
        writer.object { writer in
            for (file, lines) in sources.files.sorted(by: { $0.key < $1.key }) {
                writer.key(file.escapedForDisplay)
                writer.object { writer in
                    for (line, text) in lines.sorted(by: { $0.key < $1.key }) {
                        writer.text(String(line), text)
                    }
                }
            }
        }
    }
}

extension ThreadState {
    /// The page's number for the state.
    fileprivate var rank: Int {
        switch self {
        case .running: 0
        case .runnable: 1
        case .preempted: 2
        case .blocked: 3
        }
    }
}

import Analysis
import ProfileModel

/// Chrome's trace events, which Perfetto and about:tracing open: phases, the program's intervals
/// and signposts, initialisers, imports, and what each thread did. Stacks are left out, because the
/// format's viewers show none.
///
/// Times are in microseconds from the launch's start, with nanoseconds as decimals.
struct ChromeExport {
    private let profile: Profile
    private let options: ExportOptions

    init(_ profile: Profile, _ options: ExportOptions) {
        self.profile = profile
        self.options = options
    }

    /// Where an event is shown.
    private struct Lane {
        var pid: Int32
        /// 0: the process's launch as a whole.
        var tid: Int32
    }

    private var launch: Lane { Lane(pid: profile.header.pid, tid: 0) }

    private func lane(ofThread index: Int) -> Lane {
        Lane(
            pid: profile.processes[profile.process(ofThread: index)].pid,
            tid: profile.threads[index].tid)
    }

    func render() -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("displayTimeUnit", "ms")
            writer.key("traceEvents")
            writer.tuple { writer in
                names(&writer)
                phases(&writer)
                facts(&writer)
                imports(&writer)
                states(&writer)
            }
        }
        writer.endLine()
        return writer.bytes
    }

    // MARK: Lanes

    private func names(_ writer: inout JSONWriter) {
        for (index, process) in profile.processes.enumerated() {
            let lane = Lane(pid: process.pid, tid: 0)
            metadata("process_name", lane, &writer) { $0.field("name", process.name) }
            guard profile.processes.count > 1 else { continue }
            metadata("process_sort_index", lane, &writer) { $0.field("sort_index", index) }
        }
        name(launch, "launch", order: -1, &writer)
        for (index, thread) in profile.threads.enumerated() {
            let order = profile.isLeader(index) ? 0 : index + 1
            name(lane(ofThread: index), thread.name, order: order, &writer)
        }
    }

    private func name(_ lane: Lane, _ name: String, order: Int, _ writer: inout JSONWriter) {
        metadata("thread_name", lane, &writer) { $0.field("name", name) }
        metadata("thread_sort_index", lane, &writer) { $0.field("sort_index", order) }
    }

    private func metadata(
        _ name: String, _ lane: Lane, _ writer: inout JSONWriter,
        _ arguments: (inout JSONWriter) -> Void
    ) {
        writer.breakLine()
        writer.object { writer in
            writer.field("ph", "M")
            writer.field("name", name)
            writer.field("pid", lane.pid)
            writer.field("tid", lane.tid)
            writer.key("args")
            writer.object(arguments)
        }
    }

    // MARK: Events

    private func phases(_ writer: inout JSONWriter) {
        for (index, phase) in profile.phases.enumerated()
        where options.selection.phases?.contains(index) ?? true {
            event("X", phase.name, "phase", launch, phase.start, &writer) {
                $0.key("dur")
                $0.microseconds(phase.wall)
            }
        }
        if let ready = profile.ready, includes(ready.time, ready.time, nil) {
            instant("ready: \(ready.by)", "phase", launch, ready.time, "p", &writer)
        }
    }

    /// As asynchronous pairs, since they overlap and may end on another thread.
    private func facts(_ writer: inout JSONWriter) {
        var id = 0
        func pair(
            _ name: String, _ category: String, _ thread: Int?, _ start: TimeSpan, _ end: TimeSpan
        ) {
            guard includes(start, end, thread) else { return }
            id += 1
            let lane = thread.map(lane) ?? launch
            for (kind, time) in [("b", start), ("e", end)] {
                event(kind, name, category, lane, time, &writer) { $0.field("id", id) }
            }
        }
        for interval in profile.intervals {
            let category = interval.category.isEmpty ? "mark" : interval.category
            pair(interval.name, category, interval.thread, interval.start, interval.end)
        }
        for initializer in profile.initializers {
            let function = profile.frames.function(of: initializer.frame)
            pair(
                function.name, "initialiser", initializer.thread, initializer.start,
                initializer.end)
        }
        for library in profile.libraries where includes(library.start, library.start, nil) {
            instant(library.path, "library", launch, library.start, "p", &writer)
        }
        for signpost in profile.signposts
        where includes(signpost.time, signpost.time, signpost.thread) {
            let lane = signpost.thread.map(lane) ?? launch
            instant(signpost.name, "signpost", lane, signpost.time, "t", &writer)
        }
    }

    /// Pairs with the same id are nested: they come from one statement of the program.
    private func imports(_ writer: inout JSONWriter) {
        var (open, statements) = ([ImportFigures](), 0)
        func close(to depth: Int) {
            while open.count > depth, let run = open.popLast() { pair("e", run, run.end) }
        }
        func pair(_ kind: String, _ run: ImportFigures, _ time: TimeSpan) {
            guard includes(run.start, run.end, run.thread) else { return }
            event(kind, run.title, "import", lane(ofThread: run.thread), time, &writer) { writer in
                writer.field("id", statements)
                guard kind == "b", let file = run.file else { return }
                writer.key("args")
                writer.object { $0.field("file", file) }
            }
        }
        for run in profile.importRuns() {
            close(to: run.depth)
            if run.depth == 0 { statements += 1 }
            open.append(run)
            pair("b", run, run.start)
        }
        close(to: 0)
    }

    private func states(_ writer: inout JSONWriter) {
        for (thread, runs) in zip(profile.threads.indices, profile.timelines()) {
            let waits = Dictionary(
                profile.waits.lazy.filter { $0.thread == thread }.map { ($0.start, $0.reason) },
                uniquingKeysWith: { first, _ in first })
            for run in runs where includes(run.start, run.end, thread) {
                event(
                    "X", run.state.name, "state", lane(ofThread: thread), run.start, &writer
                ) { writer in
                    writer.key("dur")
                    writer.microseconds(run.length)
                    guard let reason = waits[run.start], run.state == .blocked else { return }
                    writer.key("args")
                    writer.object {
                        $0.field("reason", reason.kind.rawValue)
                        $0.field("detail", reason.detail)
                    }
                }
            }
        }
    }

    private func includes(_ start: TimeSpan, _ end: TimeSpan, _ thread: Int?) -> Bool {
        profile.includes(options.selection, from: start, to: end, thread: thread)
    }

    private func instant(
        _ name: String, _ category: String, _ lane: Lane, _ time: TimeSpan, _ scope: String,
        _ writer: inout JSONWriter
    ) {
        event("i", name, category, lane, time, &writer) { $0.field("s", scope) }
    }

    private func event(
        _ kind: String, _ name: String, _ category: String, _ lane: Lane, _ time: TimeSpan,
        _ writer: inout JSONWriter, _ more: (inout JSONWriter) -> Void
    ) {
        writer.breakLine()
        writer.object { writer in
            writer.field("ph", kind)
            writer.field("name", name)
            writer.field("cat", category)
            writer.field("pid", lane.pid)
            writer.field("tid", lane.tid)
            writer.key("ts")
            writer.microseconds(time)
            more(&writer)
        }
    }
}

package import Analysis
import Exports
package import ProfileModel

/// Parts that a report has only on request, because they grow with the recording's slices. The raw
/// values are words of `--with`, and names of fields.
package enum JSONPart: String, Sendable, CaseIterable {
    case events, timeline
}

/// A profile as JSON, by the schema in `docs/json.md`, which may only grow.
package enum JSONReport {
    /// The whole profile as UTF-8, with complete lists. Ends in a line break.
    ///
    /// - Parameters:
    ///   - minDuration: shorter waits are no events; shorter parts of the critical path are merged.
    ///   - parts: the optional parts to include; others are null.
    package static func bytes(
        _ profile: Profile, minDuration: TimeSpan = Wait.shortest, with parts: Set<JSONPart>
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("schema", JSONSchema.report.version)
            section("program", &writer) { program(profile, &$0) }
            section("launch", &writer) { launch(profile, &$0) }
            section("processes", &writer) {
                $0.array(profile.processes.indices, inLines: true) { process(profile, $1, &$0) }
            }
            section("children", &writer) {
                $0.array(profile.processes.dropFirst(), inLines: true) { child($1, &$0) }
            }
            section("phases", &writer) {
                $0.array(profile.phases.indices, inLines: true) { phase(profile, $1, &$0) }
            }
            section("wholePhases", &writer) {
                $0.array(profile.wholePhases, inLines: true) { wholePhase($1, &$0) }
            }
            section("threads", &writer) {
                $0.array(profile.threads.indices, inLines: true) { thread(profile, $1, &$0) }
            }
            section("functions", &writer) {
                $0.array(profile.functions(orderedBy: .cpu), inLines: true) {
                    function(profile, $1, &$0)
                }
            }
            section("modules", &writer) {
                $0.array(zip(profile.modules, profile.moduleTimes()), inLines: true) {
                    module($1.0, $1.1, &$0)
                }
            }
            section("ready", &writer) { ready(profile.ready, &$0) }
            section("initializers", &writer) {
                $0.array(profile.initializers, inLines: true) { initializer(profile, $1, &$0) }
            }
            section("libraries", &writer) {
                $0.array(profile.libraries, inLines: true) { library($1, &$0) }
            }
            section("imports", &writer) {
                $0.array(profile.importRuns(), inLines: true) { importRun(profile, $1, &$0) }
            }
            section("intervals", &writer) {
                $0.array(profile.intervals, inLines: true) { interval(profile, $1, &$0) }
            }
            section("signposts", &writer) {
                $0.array(profile.signposts, inLines: true) { signpost(profile, $1, &$0) }
            }
            section("events", &writer) {
                guard parts.contains(.events) else { return $0.value(String?.none) }
                $0.array(profile.waits(in: .all, shortest: minDuration), inLines: true) {
                    event(profile, $1, &$0)
                }
            }
            section("timeline", &writer) {
                guard parts.contains(.timeline) else { return $0.value(String?.none) }
                $0.array(zip(profile.threads, profile.timelines()), inLines: true) {
                    timeline($1.0, $1.1, &$0)
                }
            }
            section("priorities", &writer) {
                $0.array(profile.priorities, inLines: true) { priority(profile, $1, &$0) }
            }
            let answer = Answer(profile)
            section("lead", &writer) { $0.value(answer.lead(AnswerPath(answer))) }
            section("findings", &writer) {
                $0.array(answer.findings, inLines: true) { finding(profile, $1, &$0) }
            }
            section("criticalPath", &writer) {
                let path = profile.criticalPath(minDuration: minDuration)
                $0.array(path.segments, inLines: true) { segment(profile, $1, &$0) }
            }
            section("notes", &writer) {
                let texts =
                    RecorderNotes.texts(profile.notes)
                    + profile.measurementNotes().map { ($0.kind, $0.text) }
                $0.array(texts, inLines: true) { note($1, &$0) }
            }
            writer.endLine()
        }
        writer.endLine()
        return writer.bytes
    }

    private static func section(
        _ name: String, _ writer: inout JSONWriter, _ body: (inout JSONWriter) -> Void
    ) {
        writer.breakLine()
        writer.key(name)
        body(&writer)
    }

    private static func program(_ profile: Profile, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("name", profile.program.name)
            writer.field("path", profile.program.path)
            writer.key("arguments")
            writer.array(profile.program.arguments) { $0.value($1) }
            writer.field("pid", profile.header.pid)
            ending(profile.header.outcome, &writer)
        }
    }

    private static func launch(_ profile: Profile, _ writer: inout JSONWriter) {
        let (launch, header) = (profile.launch, profile.header)
        writer.object { writer in
            writer.field("wallNs", launch.wall)
            writer.field("heldNs", launch.held)
            writer.field("cpuNs", launch.cpu)
            writer.field("frequencyHz", header.frequency)
            writer.field("ticks", header.ticks)
            writer.field("missedTicks", header.missedTicks)
            writer.field("samples", header.samples)
            writer.field("missedSamples", header.missedSamples)
            writer.field("slices", launch.slices)
            writer.field("truncatedStacks", launch.truncatedStacks)
            writer.field("lostSamples", header.lostSamples)
            writer.field("capture", header.capture.rawValue)
            if header.capture == .perf { writer.field("importedFrom", header.importSource) }
            writer.field("scheduler", header.account?.rawValue)
            writer.key("mainThread")
            writer.array(profile.mainThread.segments) { writer, segment in
                writer.object {
                    $0.field("tid", profile.threads[segment.thread].tid)
                    $0.field("startNs", segment.range.lowerBound)
                    $0.field("wallNs", segment.range.upperBound - segment.range.lowerBound)
                }
            }
            writer.key("notes")
            writer.array(profile.notes) { writer, note in
                writer.object {
                    $0.field("kind", note.kind.rawValue)
                    $0.field("value", note.value)
                }
            }
        }
    }

    private static func phase(_ profile: Profile, _ index: Int, _ writer: inout JSONWriter) {
        let phase = profile.phases[index]
        var selection = Selection(phases: [index])
        let process = profile.heaviestProcess(in: selection, weight: .cpu)
        selection.threads = process.map { Set(profile.processes[$0].threads) }
        let stack = profile.heaviestStack(selection, weight: .cpu)
        writer.object { writer in
            writer.field("name", phase.name)
            writer.field("partOf", phase.whole)
            writer.field("group", phase.group.rawValue)
            writer.field("startNs", phase.start)
            writer.field("startPrecisionNs", phase.startPrecision)
            writer.field("wallNs", phase.wall)
            writer.field("heldNs", phase.held)
            writer.field("cpuNs", phase.cpu)
            writer.field("minorFaults", phase.counters.minorFaults)
            writer.field("majorFaults", phase.counters.majorFaults)
            writer.field("readBytes", phase.counters.readBytes)
            writer.key("mainThread")
            writer.object { states(phase.mainThread, &$0) }
            let pid = profile.processes[process ?? 0].pid
            writer.field("heaviestPid", stack.entries.isEmpty ? nil : pid)
            writer.key("heaviestStack")
            writer.array(stack.entries) { frame(profile.frames, $1, &$0) }
        }
    }

    private static func wholePhase(_ phase: Phase, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("name", phase.name)
            writer.field("startNs", phase.start)
            writer.field("wallNs", phase.wall)
            writer.field("cpuNs", phase.cpu)
            writer.field("minorFaults", phase.counters.minorFaults)
            writer.field("majorFaults", phase.counters.majorFaults)
            writer.field("readBytes", phase.counters.readBytes)
        }
    }

    static func states(_ times: StateTimes, _ writer: inout JSONWriter) {
        writer.field("runningNs", times.running)
        writer.field("runnableNs", times.runnable)
        writer.field("preemptedNs", times.preempted)
        writer.field("blockedNs", times.blocked)
    }

    private static func frame(
        _ frames: FrameTable, _ entry: HeaviestStack.Entry, _ writer: inout JSONWriter
    ) {
        let frame = frames[entry.frame]
        let function = frames[frame.function]
        writer.object { writer in
            writer.field("function", function.name)
            writer.field("module", function.module)
            writer.field("file", frame.file)
            writer.field("line", frame.line)
            writer.field("own", function.isOwn)
            writer.field("language", function.language?.rawValue)
            writer.field("inlined", frame.isInlined)
            writer.field("cpuNs", entry.total.running)
            writer.field("wallNs", entry.total.wall)
        }
    }

    private static func thread(_ profile: Profile, _ index: Int, _ writer: inout JSONWriter) {
        let thread = profile.threads[index]
        writer.object { writer in
            writer.field("tid", thread.tid)
            writer.field("pid", profile.processes[profile.process(ofThread: index)].pid)
            writer.field("name", thread.name)
            writer.field("startNs", thread.start)
            writer.field("endNs", thread.end)
            states(thread.times, &writer)
            writer.key("priority")
            priority(thread.priorities.last, &writer)
        }
    }

    private static func function(
        _ profile: Profile, _ figures: FunctionFigures, _ writer: inout JSONWriter
    ) {
        let function = profile.frames[figures.function]
        writer.object { writer in
            writer.field("function", function.name)
            writer.field("module", function.module)
            writer.field("own", function.isOwn)
            writer.field("language", function.language?.rawValue)
            writer.field("selfCpuNs", figures.own.running)
            writer.field("totalCpuNs", figures.total.running)
            writer.field("selfWallNs", figures.own.wall)
            writer.field("totalWallNs", figures.total.wall)
        }
    }
}

/// The JSON of subcommands, which `docs/json.md` describes; the cases are named after the
/// subcommands.
package enum JSONSchema: String, Sendable, CaseIterable {
    case report, measure, compare, gate, history, top, doctor

    /// Raised when a reader of the previous version would misread the new one. New fields do not
    /// raise it.
    package var version: Int {
        switch self {
        case .report: 2
        case .measure, .compare, .gate, .history, .top, .doctor: 1
        }
    }
}

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

extension JSONReport {
    static func module(
        _ module: ModuleFigures, _ times: ModuleTimes, _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.field("path", module.path)
            writer.field("buildId", module.buildID.isEmpty ? nil : module.buildID.hex)
            writer.field("loadedNs", module.loaded)
            writer.field("hasDebugInfo", module.hasDebugInfo)
            writer.field("debugInfoFile", module.symbols?.debugInfoPath)
            writer.field("debugInfoOrigin", module.symbols?.debugInfoOrigin?.rawValue)
            writer.field("symbolOrigin", module.symbols?.symbolOrigin?.rawValue)
            writer.field("slices", module.slices)
            writer.field("totalCpuNs", times.total.running)
            writer.field("selfCpuNs", times.own.running)
            writer.field("totalWallNs", times.total.wall)
            writer.field("selfWallNs", times.own.wall)
            writer.field("addresses", module.addresses.all)
            writer.field("namedAddresses", module.addresses.named)
            writer.field("addressesWithLine", module.addresses.withLine)
            writer.key("remarks")
            writer.array(module.symbols?.remarks ?? []) { writer, remark in
                writer.object {
                    $0.field("kind", remark.kind.rawValue)
                    $0.field("detail", remark.detail)
                    $0.field("text", remark.words)
                }
            }
        }
    }
}

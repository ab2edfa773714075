import Analysis
import Architecture
import ProfileModel

/// The Firefox Profiler's processed profile format, version 48 (its docs-developer folder and
/// src/types/profile.js). Each of our threads becomes one of its threads. Samples are weighed in
/// milliseconds and have CPU time; the category is the thread's state, or the language. Markers
/// show phases, signposts, initialisers, imports, library loads and waits.
struct FirefoxExport {
    private let profile: Profile
    private let options: ExportOptions
    private let nodes: [StackNode]
    private let imports: [ImportFigures]

    init(_ profile: Profile, _ options: ExportOptions) {
        self.profile = profile
        self.options = options
        nodes = profile.stackNodes
        imports = profile.importRuns()
    }

    func render() -> [UInt8] {
        var stretches = [[Stretch]](repeating: [], count: profile.threads.count)
        for stretch in profile.stretches(in: options.selection) {
            stretches[stretch.thread].append(stretch)
        }
        var writer = JSONWriter()
        writer.object { writer in
            writer.key("meta")
            writer.object { meta(&$0) }
            writer.breakLine()
            writer.key("threads")
            let threads = profile.threads.indices.filter {
                profile.isLeader($0) || !stretches[$0].isEmpty
            }
            var libraries = FirefoxLibraries()
            writer.array(threads, inLines: true) {
                thread($1, stretches[$1], &libraries, &$0)
            }
            writer.breakLine()
            writer.key("libs")
            writer.array(libraries.modules) { library(profile.modules[$1], &$0) }
            for list in ["pages", "counters", "profilerOverhead"] {
                writer.key(list)
                writer.tuple { _ in }
            }
        }
        writer.endLine()
        return writer.bytes
    }

    private func meta(_ writer: inout JSONWriter) {
        writer.field("version", 24)
        writer.field("preprocessedProfileVersion", 48)
        writer.field("product", profile.program.name)
        writer.field("processType", 0)
        writer.field("stackwalk", 1)
        writer.field("debug", false)
        writer.field("symbolicated", true)
        writer.field("sourceCodeIsNotOnSearchfox", true)
        writer.field("usesOnlyOneStackType", true)
        writer.field("platform", "Linux")
        writer.field("oscpu", "Linux \(Machine.name)")
        writer.field("toolkit", "")
        writer.field("misc", "")
        // Times are relative to the launch; its date is not recorded.
        writer.field("startTime", 0)
        writer.key("interval")
        writer.milliseconds(
            TimeSpan(nanoseconds: 1_000_000_000 / Int64(max(1, profile.header.frequency))))
        writer.key("sampleUnits")
        writer.object {
            $0.field("time", "ms")
            $0.field("eventDelay", "ms")
            $0.field("threadCPUDelta", "ns")
        }
        writer.key("extensions")
        writer.object { writer in
            writer.field("length", 0)
            for list in ["baseURL", "id", "name"] {
                writer.key(list)
                writer.tuple { _ in }
            }
        }
        writer.key("categories")
        writer.array(FirefoxCategory.Kind.allCases) { $1.write(&$0) }
        writer.key("markerSchema")
        writer.array(FirefoxMarkers.kinds) { FirefoxMarkers.schema(of: $1, &$0) }
    }

    private func library(_ module: ModuleFigures, _ writer: inout JSONWriter) {
        let name = module.path.split(separator: "/").last.map(String.init) ?? module.path
        writer.object { writer in
            writer.field("arch", Machine.name)
            for key in ["name", "debugName"] { writer.field(key, name) }
            for key in ["path", "debugPath"] { writer.field(key, module.path) }
            writer.field("breakpadId", "")
            writer.field("codeId", module.buildID.isEmpty ? nil : module.buildID.hex)
        }
    }

    // MARK: Threads

    private func thread(
        _ index: Int, _ stretches: [Stretch], _ libraries: inout FirefoxLibraries,
        _ writer: inout JSONWriter
    ) {
        let thread = profile.threads[index]
        let process = profile.processes[profile.process(ofThread: index)]
        var tables = FirefoxTables(profile.frames, nodes)
        let samples = self.samples(stretches, &tables)
        let markers = FirefoxMarkers(
            profile, options.selection, imports: imports, thread: index)
        writer.object { writer in
            writer.field("name", thread.name)
            writer.field("processName", process.label)
            writer.field("processType", "default")
            writer.field("isMainThread", profile.isLeader(index))
            writer.field("pid", String(process.pid))
            writer.field("tid", thread.tid)
            writer.field("processStartupTime", 0)
            writer.field("processShutdownTime", Int?.none)
            writer.key("registerTime")
            writer.milliseconds(thread.start)
            writer.key("unregisterTime")
            writer.milliseconds(thread.end)
            writer.key("pausedRanges")
            writer.tuple { _ in }
            writer.field("showMarkersInTimeline", true)
            writer.key("samples")
            writer.object { write(samples, &$0) }
            writer.key("markers")
            writer.object { markers.write(&tables.strings, &$0) }
            tables.write(&libraries, &writer)
        }
    }

    private struct Sample {
        var time: TimeSpan
        var stack: Int
        var weight: TimeSpan
        var cpu: TimeSpan
    }

    private func samples(_ stretches: [Stretch], _ tables: inout FirefoxTables) -> [Sample] {
        var result: [Sample] = []
        for stretch in stretches {
            var cpu = stretch.times.running
            for charge in stretch.charges(by: options.weight) {
                let isWait = charge.stack == stretch.waitStack
                let isWaiting =
                    stretch.times.running == .zero && stretch.times.blocked == .zero
                let category: FirefoxCategory? =
                    isWait
                    ? FirefoxCategory(.blocked)
                    : isWaiting ? FirefoxCategory(.waiting) : nil
                result.append(
                    Sample(
                        time: stretch.start,
                        stack: tables.stack(charge.stack, leafCategory: category),
                        weight: charge.time, cpu: isWait ? .zero : cpu))
                cpu = isWait ? cpu : .zero
            }
        }
        return result
    }

    private func write(_ samples: [Sample], _ writer: inout JSONWriter) {
        writer.field("length", samples.count)
        writer.field("weightType", "tracing-ms")
        writer.key("stack")
        writer.array(samples) { $0.value($1.stack) }
        writer.key("time")
        writer.array(samples) { $0.milliseconds($1.time) }
        writer.key("weight")
        writer.array(samples) { $0.milliseconds($1.weight) }
        writer.key("threadCPUDelta")
        writer.array(samples) { $0.value($1.cpu) }
    }
}

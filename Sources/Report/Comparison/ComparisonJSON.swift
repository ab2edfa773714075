package import Analysis
import Exports
import ProfileModel

extension ComparisonReport {
    /// The whole comparison, by the schema that `docs/json.md` describes. Ends in a line break.
    package static func json(_ comparison: ProfileComparison) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("schema", JSONSchema.compare.version)
            writer.field("kind", "comparison")
            for side in Side.allCases {
                writer.breakLine()
                writer.key(side.name)
                launch(comparison.profiles[side], of: comparison.launches[side].count, &writer)
            }
            writer.breakLine()
            writer.field("wallNs", comparison.wall)
            interval(comparison, comparison.walls, "wallIntervalNs", &writer)
            writer.field("cpuNs", comparison.cpu)
            writer.field("mainThreadBlockedNs", comparison.blocked)
            writer.field("leastChangeNs", comparison.leastChange)
            section("phases", comparison.phases, &writer) { phase(comparison, $1, &$0) }
            section("waits", comparison.waits, &writer) { wait(comparison, $1, &$0) }
            section("initializers", comparison.initializers, &writer) {
                initializer(comparison, $1, &$0)
            }
            section("libraries", comparison.libraries, &writer) { library(comparison, $1, &$0) }
            section("processes", comparison.processes, &writer) { process(comparison, $1, &$0) }
            section("findings", comparison.findings, &writer) { finding(comparison, $1, &$0) }
            section("notes", ComparisonNotes(comparison: comparison).texts, &writer) {
                $0.value($1)
            }
            writer.endLine()
        }
        writer.endLine()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    static func section<Element>(
        _ name: String, _ list: [Element], _ writer: inout JSONWriter,
        _ body: (inout JSONWriter, Element) -> Void
    ) {
        writer.breakLine()
        writer.key(name)
        writer.array(list, inLines: true, body)
    }

    private static func launch(
        _ profile: Profile, of launches: Int, _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.field("launches", launches)
            writer.field("name", profile.program.name)
            writer.field("path", profile.program.path)
            writer.field("capture", profile.header.capture.rawValue)
            writer.field("frequencyHz", profile.header.frequency)
            writer.field("wallNs", profile.launch.wall)
            writer.field("readyNs", profile.ready?.time)
        }
    }

    // MARK: Phases

    private static func phase(
        _ comparison: ProfileComparison, _ phase: ComparedPhase, _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.field("name", phase.name)
            writer.field("in", phase.figures.map { $0 != nil })
            writer.field("wallNs", phase.wall)
            interval(comparison, phase.walls, "wallIntervalNs", &writer)
            writer.field("cpuNs", phase.cpu)
            writer.field("mainThreadBlockedNs", phase.blocked)
            section("changes", phase.changes, &writer) { change(comparison, phase, $1, &$0) }
            section("functions", phase.functions, &writer) { writer, function in
                writer.object {
                    names(comparison, function.function, &$0)
                    costs("self", function.own, &$0)
                    interval(comparison, function.walls, "selfWallIntervalNs", &$0)
                    costs("total", function.total, &$0)
                }
            }
            section("topDown", phase.topDown.nodes, &writer) { node(comparison, $1, &$0) }
            section("bottomUp", phase.bottomUp.nodes, &writer) { node(comparison, $1, &$0) }
        }
    }

    private static func change(
        _ comparison: ProfileComparison, _ phase: ComparedPhase, _ change: Change,
        _ writer: inout JSONWriter
    ) {
        let node = phase.topDown.nodes[change.node]
        writer.object { writer in
            writer.field("kind", change.kind.rawValue)
            names(comparison, node.function, &writer)
            writer.field("node", change.node)
            costs("", change.cost, &writer)
        }
    }

    private static func node(
        _ comparison: ProfileComparison, _ node: ComparedTree.Node, _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.field("parent", node.parent)
            names(comparison, node.function, &writer)
            writer.field("in", node.frames.map { $0 != nil })
            costs("self", node.own, &writer)
            costs("total", node.total, &writer)
            interval(comparison, node.walls, "totalWallIntervalNs", &writer)
        }
    }

    /// Writes nothing if a side is a single launch.
    static func interval(
        _ comparison: ProfileComparison, _ walls: LaunchWalls, _ name: String,
        _ writer: inout JSONWriter
    ) {
        guard let interval = comparison.interval(of: walls) else { return }
        writer.key(name)
        writer.object { writer in
            writer.field("low", interval.low)
            writer.field("high", interval.high)
        }
    }

    static func names(
        _ comparison: ProfileComparison, _ function: FunctionID, _ writer: inout JSONWriter
    ) {
        let function = comparison.functions[function]
        writer.field("function", function.name)
        writer.field("module", function.module)
        writer.field("own", function.isOwn)
        writer.field("language", function.language?.rawValue)
    }

    /// `selfWallNs` and so on; without a prefix, `wallNs`.
    private static func costs(
        _ prefix: String, _ cost: Compared<Cost>, _ writer: inout JSONWriter
    ) {
        writer.field(prefix.isEmpty ? "wallNs" : prefix + "WallNs", cost.map(\.wall))
        writer.field(prefix.isEmpty ? "cpuNs" : prefix + "CpuNs", cost.map(\.cpu))
        writer.field(prefix.isEmpty ? "blockedNs" : prefix + "BlockedNs", cost.map(\.blocked))
    }
}

extension JSONWriter {
    /// `{"before":…,"after":…,"difference":…}`
    mutating func field(_ name: String, _ times: Compared<TimeSpan>) {
        key(name)
        object { writer in
            writer.field("before", times.before)
            writer.field("after", times.after)
            writer.field("difference", times.difference)
        }
    }

    /// `{"before":…,"after":…}`
    mutating func field(_ name: String, _ flags: Compared<Bool>) {
        key(name)
        object { writer in
            writer.field("before", flags.before)
            writer.field("after", flags.after)
        }
    }
}

import Analysis
import ProfileModel

/// pprof's profile.proto: cpu, wall and blocked time of each stack, with phase, thread and tid as
/// labels. Not compressed.
struct PprofExport {
    private let profile: Profile
    private let options: ExportOptions

    init(_ profile: Profile, _ options: ExportOptions) {
        self.profile = profile
        self.options = options
    }

    private struct Key: Hashable, Comparable {
        var phase: Int
        var thread: Int
        var stack: Int

        static func < (left: Key, right: Key) -> Bool {
            (left.phase, left.thread, left.stack) < (right.phase, right.thread, right.stack)
        }
    }

    private struct Values {
        var cpu = TimeSpan.zero
        var wall = TimeSpan.zero
        var blocked = TimeSpan.zero

        mutating func add(_ times: StateTimes) {
            cpu = cpu + times.running
            wall = wall + times.wall
            blocked = blocked + times.blocked
        }
    }

    func render() -> [UInt8] {
        var strings = StringTable()
        // The format requires that the first one is empty.
        _ = strings("")
        var writer = ProtobufWriter()
        for type in ["cpu", "wall", "blocked"] {
            writer.message(1) {
                $0.field(1, strings(type))
                $0.field(2, strings("nanoseconds"))
            }
        }
        for (key, values) in totals().sorted(by: { $0.key < $1.key }) {
            writer.message(2) { sample(key, values, &strings, &$0) }
        }
        for (index, module) in profile.modules.enumerated() {
            writer.message(3) { mapping(index, module, &strings, &$0) }
        }
        for (index, frame) in profile.frames.frames.enumerated() {
            writer.message(4) { location(index, frame, &$0) }
        }
        let files = filesOfFunctions()
        for (index, function) in profile.frames.functions.enumerated() {
            writer.message(5) { writer in
                writer.field(1, index + 1)
                writer.field(2, strings(function.name))
                writer.field(3, strings(function.name))
                writer.field(4, strings(files[index] ?? ""))
            }
        }
        let comment = strings("launch of \(profile.program.name), recorded by firstlight")
        let initial = strings(options.weight == .runnable ? "cpu" : options.weight.rawValue)
        for text in strings.list { writer.field(6, text) }
        writer.field(10, profile.launch.wall.nanoseconds)
        writer.field(13, packed: [comment])
        writer.field(14, initial)
        return writer.bytes
    }

    /// The reason of blocked time becomes a frame of its own.
    private func totals() -> [Key: Values] {
        var result: [Key: Values] = [:]
        for stretch in profile.stretches(in: options.selection) {
            var own = stretch.times
            if let waitStack = stretch.waitStack, own.blocked > .zero {
                let key = Key(phase: stretch.phase, thread: stretch.thread, stack: waitStack)
                result[key, default: Values()].add(StateTimes(blocked: own.blocked))
                own.blocked = .zero
            }
            guard own.wall > .zero else { continue }
            let key = Key(phase: stretch.phase, thread: stretch.thread, stack: stretch.stack)
            result[key, default: Values()].add(own)
        }
        return result
    }

    private func sample(
        _ key: Key, _ values: Values, _ strings: inout StringTable, _ writer: inout ProtobufWriter
    ) {
        let thread = profile.threads[key.thread]
        let frames = profile.frames(ofStack: key.stack).reversed().map { $0.rawValue + 1 }
        writer.field(1, packed: frames)
        writer.field(
            2,
            packed: [values.cpu.nanoseconds, values.wall.nanoseconds, values.blocked.nanoseconds])
        for (name, value) in [
            ("phase", profile.phases[key.phase].name), ("thread", thread.name),
        ] {
            let (name, value) = (strings(name), strings(value))
            writer.message(3) {
                $0.field(1, name)
                $0.field(2, value)
            }
        }
        let tid = strings("tid")
        writer.message(3) {
            $0.field(1, tid)
            $0.field(3, thread.tid)
        }
    }

    /// A profile does not have modules' addresses, so the limits are left out.
    private func mapping(
        _ index: Int, _ module: ModuleFigures, _ strings: inout StringTable,
        _ writer: inout ProtobufWriter
    ) {
        writer.field(1, index + 1)
        writer.field(5, strings(module.path))
        writer.field(6, strings(module.buildID.hex))
        // pprof need not look up anything.
        for flag in 7...10 { writer.field(flag, 1) }
    }

    private func location(_ index: Int, _ frame: Frame, _ writer: inout ProtobufWriter) {
        writer.field(1, index + 1)
        if let module = profile.frames[frame.function].moduleIndex {
            writer.field(2, module.rawValue + 1)
        }
        writer.message(4) {
            $0.field(1, Int(frame.function.rawValue) + 1)
            $0.field(2, frame.line ?? 0)
        }
    }

    private func filesOfFunctions() -> [Int: String] {
        var result: [Int: String] = [:]
        for frame in profile.frames.frames where result[Int(frame.function.rawValue)] == nil {
            result[Int(frame.function.rawValue)] = frame.file
        }
        return result
    }
}

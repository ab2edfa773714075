/// A table of the schema, and its columns in the order in which rows are written. The tables are filled
/// in this order, so that a session's row comes after the rows that it refers to.
enum Table: String, CaseIterable, Sendable {
    case things, frames, stacks, costs, launches, sessions

    var columns: [String] {
        switch self {
        case .things:
            [
                "program", "thing", "date", "kind", "name", "module", "is_own", "reason", "thread",
                "file", "line",
            ]
        case .frames: ["program", "build", "stack", "things"]
        case .stacks:
            [
                "program", "build", "session", "date", "phase", "thread_class", "stacks", "walls",
                "cpus", "blocked",
            ]
        case .costs:
            [
                "program", "phase", "session", "date", "build", "wall", "things", "own_walls",
                "own_cpus", "own_blocked", "total_walls", "total_cpus", "total_blocked", "counts",
                "known", "used", "detailed", "details",
            ]
        case .launches:
            [
                "program", "session", "launch", "date", "arm", "path", "build", "version", "host",
                "kernel", "architecture", "processor", "cores", "cache", "until", "arguments",
                "network", "disk_rate", "discarded",
                "outcome", "ready_by", "wall", "cpu", "main_blocked", "minor_faults",
                "major_faults", "read_bytes", "phase_names", "phase_walls", "phase_cpus",
            ]
        case .sessions:
            [
                "session", "kind", "date", "file", "program", "path", "arguments", "called",
                "build",
                "version", "cache", "network", "disk_rate", "until", "until_given", "host",
                "kernel",
                "architecture", "processor", "cores", "memory", "governor", "boot", "recorder",
                "requested", "ending", "progress", "launches", "walls", "phase_names",
                "phase_medians",
                "failed", "ready_by", "capture",
            ]
        }
    }
}

import ProfileModel

/// One row: the machine on which the launches were measured.
enum MachineTable: Int32, ReadableTable {
    case host = 1, kernel, architecture, processor, cores, memory, governor, boot

    static let tableName = "machine"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .host: .text("host")
        case .kernel: .text("kernel")
        case .architecture: .text("architecture")
        case .processor: .text("processor")
        case .cores: .integer("cores")
        case .memory: .integer("memory")
        case .governor: .text("governor").orNull()
        case .boot: .text("boot").orNull()
        }
    }

    static func write(
        _ machine: MeasuredMachine, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.host, machine.host)
        try row.set(.kernel, machine.kernel)
        try row.set(.architecture, machine.architecture)
        try row.set(.processor, machine.processor)
        try row.set(.cores, machine.cores)
        try row.set(.memory, machine.memory)
        try row.set(.governor, machine.governor)
        try row.set(.boot, machine.boot)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> MeasuredMachine {
        MeasuredMachine(
            host: try row.text(.host), kernel: try row.text(.kernel),
            architecture: try row.text(.architecture), processor: try row.text(.processor),
            cores: try row.integer(.cores), memory: try row.integer(.memory),
            governor: try row.optionalText(.governor), boot: try row.optionalText(.boot))
    }
}

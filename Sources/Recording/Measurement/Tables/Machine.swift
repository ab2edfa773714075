import ProfileModel

/// One row: the machine on which the launches were measured.
enum MachineTable: Table {
    static let tableName = "machine"
    static let layout = TableLayout(Self.self)

    static var blank: MeasuredMachine {
        MeasuredMachine(
            host: "", kernel: "", architecture: "", processor: "", cores: 0, memory: 0)
    }

    static func visit<V: ColumnVisitor>(
        _ machine: inout MeasuredMachine, by columns: inout V
    ) throws(V.Failure) {
        try columns.text("host", &machine.host)
        try columns.text("kernel", &machine.kernel)
        try columns.text("architecture", &machine.architecture)
        try columns.text("processor", &machine.processor)
        try columns.integer("cores", &machine.cores)
        try columns.integer("memory", &machine.memory)
        try columns.text("governor", &machine.governor)
        try columns.text("boot", &machine.boot)
    }
}

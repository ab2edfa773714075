package import ProfileModel

/// Where modules were, and since when.
enum MappingsTable: ListTable {
    static let tableName = "mappings"
    static let layout = TableLayout(Self.self)

    static var list: WritableKeyPath<Recording, [Mapping]> { \.mappings }
    static var rows: KeyPath<WaitingRows, TableRows<Self>> { \.mappings }

    static var blank: Mapping {
        Mapping(start: 0, end: 0, bias: 0, module: ModuleIndex(0), time: .blank)
    }

    static func visit<V: ColumnVisitor>(
        _ mapping: inout Mapping, by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("start_address", &mapping.start)
        try columns.integer("end_address", &mapping.end, relativeTo: "start_address")
        try columns.integer("bias", &mapping.bias, relativeTo: "start_address")
        try columns.integer("module", &mapping.module)
        try columns.integer("time_ns", &mapping.time)
        try columns.integer("child", &mapping.child)
    }

    static func admit(
        _ mapping: Mapping, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.check(mapping.time, row)
        try rules.check(mapping.module, row)
        try rules.check(mapping.child, row)
        guard mapping.start < mapping.end else { throw row.problem("an empty range") }
    }
}

extension RecordingWriter {
    package func append(_ mapping: Mapping) throws(RecordingError) {
        try append(mapping, to: rows.mappings)
    }
}

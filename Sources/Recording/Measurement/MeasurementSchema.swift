/// The layout of a measurement's file, version 2: the list of its tables, which are in
/// `Measurement/Tables`. `docs/recording-format.md` explains every column.
enum MeasurementSchema {
    /// The lower half of SQLite's `user_version`; see ``FileKind``.
    static let version: Int32 = 2

    private static let all: [any Table.Type] = [
        MeasurementTable.self, ConditionsTable.self, UntilTable.self, MachineTable.self,
        ArmsTable.self, ArmArgumentsTable.self, LaunchesTable.self, PhasesTable.self,
        ProcessesTable.self,
    ]

    static func tables(asOf version: Int32) -> [TableLayout] {
        all.filter { $0.first <= version }.map { $0.layout.asOf(version) }
    }
}

/// The layout of a measurement's file: the list of its tables, which are in `Measurement/Tables`. `docs/recording-format.md` explains every column.
enum MeasurementSchema {
    /// The lower half of SQLite's `user_version`; see ``FileKind``.
    static let version: Int32 = 1

    static let tables = [
        MeasurementTable.layout, ConditionsTable.layout, UntilTable.layout, MachineTable.layout,
        ArmsTable.layout, ArmArgumentsTable.layout, LaunchesTable.layout, PhasesTable.layout,
        ProcessesTable.layout,
    ]
}

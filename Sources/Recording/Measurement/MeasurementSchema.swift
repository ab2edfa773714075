/// The layout of a measurement's file, version 2. `docs/recording-format.md` explains every column.
enum MeasurementSchema {
    /// The lower half of SQLite's `user_version`; see ``FileKind``.
    static let version: Int32 = 2

    static let measurement = Schema.Table(
        "measurement",
        [
            "requested": "INTEGER NOT NULL", "version_name": "TEXT",
            "recorder_version": "TEXT NOT NULL", "date_ns": "INTEGER NOT NULL",
            "ending": "TEXT NOT NULL",
        ])
    static let conditions = Schema.Table(
        "conditions", ["cache": "TEXT NOT NULL", "network": "TEXT", "disk_rate": "INTEGER"])
    static let until = Schema.Table("until", ["condition": "TEXT NOT NULL"])
    static let machine = Schema.Table(
        "machine",
        [
            "host": "TEXT NOT NULL", "kernel": "TEXT NOT NULL", "architecture": "TEXT NOT NULL",
            "processor": "TEXT NOT NULL", "cores": "INTEGER NOT NULL",
            "memory": "INTEGER NOT NULL", "governor": "TEXT", "boot": "TEXT",
        ])
    static let arms = Schema.Table("arms", ["path": "TEXT NOT NULL"])
    static let arguments = Schema.Table(
        "arguments", ["arm": "INTEGER NOT NULL", "value": "TEXT NOT NULL"])
    static let launches = Schema.Table(
        "launches",
        [
            "arm": "INTEGER NOT NULL", "start_ns": "INTEGER NOT NULL", "discarded": "TEXT",
            "wall_ns": "INTEGER NOT NULL", "held_ns": "INTEGER NOT NULL", "cpu_ns": "INTEGER",
            "main_blocked_ns": "INTEGER", "minor_faults": "INTEGER", "major_faults": "INTEGER",
            "read_bytes": "INTEGER", "cached_bytes": "INTEGER", "file_bytes": "INTEGER",
            "other_work_ns": "INTEGER", "stolen_ns": "INTEGER", "frequency_khz": "INTEGER",
            "outcome": "TEXT", "outcome_value": "INTEGER", "ready_by": "TEXT",
            "output": "TEXT NOT NULL",
        ])
    static let phases = Schema.Table(
        "phases",
        [
            "launch": "INTEGER NOT NULL", "name": "TEXT NOT NULL",
            "wall_ns": "INTEGER NOT NULL", "cpu_ns": "INTEGER",
        ])

    /// For launches whose processes are known. A launch without processes has one row without a
    /// name.
    static let processes = Schema.Table(
        "processes",
        [
            "launch": "INTEGER NOT NULL", "name": "TEXT", "count": "INTEGER NOT NULL",
            "running": "INTEGER NOT NULL", "wall_ns": "INTEGER NOT NULL", "cpu_ns": "INTEGER",
        ])

    private static let firstTables = [
        measurement, conditions, until, machine, arms, arguments, launches, phases,
    ]

    /// Version 1 had no processes.
    static func tables(asOf version: Int32) -> [Schema.Table] {
        version < 2 ? firstTables : firstTables + [processes]
    }
}

/// The kind of content of one of our files. All kinds have the same `application_id`. The upper
/// half of `user_version` is the kind, the lower half the version of the kind's schema.
package enum FileKind: Int32, CaseIterable, Sendable {
    case recording = 0
    case measurement = 1

    /// The kind of the file at `path`, from its first bytes; reading it may still fail. Throws
    /// `notARecording` if the file is not ours, `newerKind` if a later version of firstlight may
    /// know it, and any error that prevents reading.
    package init(of path: String) throws(RecordingError) {
        let start = try FileStart(of: path, expecting: .recording)
        guard start.isOurs else { throw .notARecording(path: path) }
        guard let kind = try start.kind(path) else { throw .newerKind(path: path) }
        self = kind
    }

    /// The word for messages.
    package var noun: String {
        switch self {
        case .recording: "recording"
        case .measurement: "measurement"
        }
    }

    /// The version of the schema that this firstlight writes and reads.
    package var version: Int32 {
        switch self {
        case .recording: Schema.version
        case .measurement: MeasurementSchema.version
        }
    }

    /// The SQL tables in a new file of the kind.
    var tables: [TableLayout] {
        switch self {
        case .recording: Schema.tables
        case .measurement: MeasurementSchema.tables
        }
    }

    /// SQLite's `user_version`.
    var userVersion: Int32 { rawValue << 16 | version }
}

extension FileStart {
    /// nil: this version does not know the kind.
    func kind(_ path: String) throws(RecordingError) -> FileKind? {
        guard userVersion > 0 else {
            throw .damaged(path: path, detail: "its header was changed")
        }
        return FileKind(rawValue: userVersion >> 16)
    }

    var schemaVersion: Int32 { userVersion & 0xFFFF }

    /// Throws unless the file at `path` is of this kind and of the version that we read.
    func check(is kind: FileKind, _ path: String) throws(RecordingError) {
        guard isOurs else { throw .notARecording(path: path, expected: kind) }
        guard let found = try self.kind(path) else { throw .newerKind(path: path) }
        guard found == kind else { throw .otherKind(path: path, found: found) }
        guard schemaVersion <= kind.version else {
            throw .newerSchema(path: path, found: schemaVersion, supported: kind.version)
        }
        guard schemaVersion > 0, !usesWriteAheadLog else {
            throw .damaged(path: path, detail: "its header was changed")
        }
    }
}

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

/// What a file of ours holds. All kinds have the same `application_id`; the upper half of
/// `user_version` is the kind, the lower half the version of the kind's schema.
package enum FileKind: Int32, CaseIterable, Sendable {
    case recording = 0
    case measurement = 1

    /// Which kind the file at `path` is of, as its first bytes say; that it can be read is not
    /// sure yet. Throws `notARecording` for what is not ours, `newerKind` for what a later version
    /// of firstlight may know, and the reasons for which nothing can be read.
    package init(of path: String) throws(RecordingError) {
        let start = try FileStart(of: path, expecting: .recording)
        guard start.isOurs else { throw .notARecording(path: path) }
        guard let kind = try start.kind(path) else { throw .newerKind(path: path) }
        self = kind
    }

    /// As messages call it.
    package var noun: String {
        switch self {
        case .recording: "recording"
        case .measurement: "measurement"
        }
    }

    /// Of the schema that this version of firstlight writes.
    package var version: Int32 {
        switch self {
        case .recording: Schema.version
        case .measurement: MeasurementSchema.version
        }
    }

    /// The first version of the schema that this one reads. Measurements are kept for years.
    package var oldest: Int32 {
        switch self {
        case .recording: Schema.oldest
        case .measurement: 1
        }
    }

    /// SQL's tables in a file of a version of the kind's schema.
    func tables(asOf version: Int32) -> [Schema.Table] {
        switch self {
        case .recording: Schema.tables(asOf: version)
        case .measurement: MeasurementSchema.tables(asOf: version)
        }
    }

    /// SQLite's `user_version`, for a version of the kind's schema.
    func userVersion(_ version: Int32) -> Int32 { rawValue << 16 | version }
}

extension FileStart {
    /// nil: one that this version does not know.
    func kind(_ path: String) throws(RecordingError) -> FileKind? {
        guard userVersion > 0 else {
            throw .damaged(path: path, detail: "its header was changed")
        }
        return FileKind(rawValue: userVersion >> 16)
    }

    var schemaVersion: Int32 { userVersion & 0xFFFF }

    /// Throws unless the file, which is at `path`, is of this kind and of a version that we read.
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
        guard schemaVersion >= kind.oldest else {
            throw .olderSchema(path: path, found: schemaVersion, supported: kind.oldest)
        }
    }
}

package import ProfileModel

/// Reads recording files, which may come from anywhere. Every value is checked, nothing in the file
/// is executed, and the memory used is in proportion to the file's size.
package enum RecordingReader {
    /// Reads a whole recording. If its recorder was killed, it is read up to the last transaction
    /// (the incomplete one is undone, also in the file).
    package static func load(path: String) throws(RecordingError) -> Recording {
        try TableReader.read(path, .recording) { reader throws(ReadFailure) in
            var recording = Recording(header: try reader.header())
            for table in Schema.packed { try table.load(&recording, from: &reader) }
            return recording
        }
    }

    /// Reads only the tables needed to look up the recording's addresses: no slices, runs and
    /// wake-ups, and of waits at addresses only one for each thread and place.
    package static func loadAddresses(path: String) throws(RecordingError) -> Recording {
        try TableReader.read(path, .recording) { reader throws(ReadFailure) in
            var recording = Recording(header: try reader.header())
            for table in Schema.packed where !table.isLong {
                try table.load(&recording, from: &reader)
            }
            recording.waits = try WaitsTable.placed(from: &reader)
            return recording
        }
    }
}

package import ProfileModel

/// Reads recording files, which may come from anywhere: every value is checked, nothing in the
/// file is executed, and memory stays in proportion to the file's size.
package enum RecordingReader {
    /// Reads a whole recording; one whose recorder was killed up to its last transaction (the
    /// half one after it is undone, in the file too).
    package static func load(path: String) throws(RecordingError) -> Recording {
        try TableReader.read(path, .recording) { reader throws(ReadFailure) in
            try reader.recording()
        }
    }

    /// Only what somebody needs who looks up the addresses in it: no slices, runs and wake-ups, and
    /// of waits at addresses one for each thread and place.
    package static func loadAddresses(path: String) throws(RecordingError) -> Recording {
        try TableReader.read(path, .recording) { reader throws(ReadFailure) in
            try reader.addresses()
        }
    }
}

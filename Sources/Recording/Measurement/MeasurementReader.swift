package import ProfileModel

/// Reads measurements, as strictly as ``RecordingReader`` reads recordings.
package enum MeasurementReader {
    /// Reads a whole measurement. If it was cut short, it is read up to its last launch (the
    /// incomplete launch is undone, also in the file).
    package static func load(path: String) throws(RecordingError) -> Measurement {
        try TableReader.read(path, .measurement) { reader throws(ReadFailure) in
            try reader.measurement()
        }
    }
}

extension TableReader {
    /// Tables that other tables refer to come first.
    fileprivate mutating func measurement() throws(ReadFailure) -> Measurement {
        let header = try only(MeasurementTable.self)
        let (conditions, machine) = (try self.conditions(), try only(MachineTable.self))
        var measurement = Measurement(
            header: header, arms: try arms(), conditions: conditions, machine: machine)
        var rules = MeasurementRules()
        try Self.admit { () throws(Inconsistency) in try rules.admit(measurement) }
        measurement.launches = try launches()
        try readPhases(into: &measurement.launches)
        try readProcesses(into: &measurement.launches)
        for launch in measurement.launches {
            try Self.admit { () throws(Inconsistency) in try rules.admit(launch) }
        }
        return measurement
    }
}

package import ProfileModel

/// Writes a measurement's file while launches are made.
///
/// Each launch is committed as it is appended. So even if this process is killed or the disk is
/// full, the file has all earlier launches. The file is locked against other processes until
/// ``finish(_:)``. Use it from one thread at a time.
///
/// The first error ends the writing, and every later call throws it again. Values that no reader
/// would accept are refused, see ``MeasurementRules``.
package final class MeasurementWriter {
    private let file: FileWriter
    private let header: Statement
    private let launch: Statement
    private let phase: Statement
    private let processes: Statement
    private let discarding: Statement
    private var rules: MeasurementRules
    private var written: Measurement.Header

    /// Creates the file, readable only by its owner (mode 0600), with everything known before the
    /// first launch, and with the launches in `measurement`. The file must not exist: see
    /// ``RecordingFile/keepOlder(at:for:)``.
    package init(
        creating path: String, _ measurement: Measurement
    ) throws(RecordingError) {
        var rules = MeasurementRules()
        try Consistency.attempt(path) { () throws(Inconsistency) in try rules.admit(measurement) }
        self.rules = rules
        // A killed process cannot write its ending, so the file says unknown from the start.
        let begun = measurement.ending(.unknown)
        written = begun.header
        file = try FileWriter(creating: path, .measurement) { database throws(RecordingError) in
            try MeasurementWriter.write(begun, to: database)
        }
        (header, launch, phase, processes, discarding) = try file.prepare {
            database throws(RecordingError) in
            (
                try database.prepare(MeasurementTable.layout.replacement),
                try database.prepare(LaunchesTable.layout.insertion),
                try database.prepare(PhasesTable.layout.insertion),
                try database.prepare(ProcessesTable.layout.insertion),
                try database.prepare("UPDATE launches SET discarded = ? WHERE id = ?")
            )
        }
        for launch in measurement.launches { try append(launch) }
    }

    /// True if the file is still where it was made: data appended to a removed file are lost.
    package func isInPlace(at path: String) -> Bool { file.isInPlace(at: path) }

    /// Stores one more launch permanently. ~50 µs.
    package func append(_ launch: MeasuredLaunch) throws(RecordingError) {
        let (row, firstPhase, firstProcess) = (rules.launches, rules.phases, rules.processes)
        try file.check { () throws(Inconsistency) in try rules.admit(launch) }
        try file.write { () throws(SQLiteFailure) in
            try self.launch.write(launch, LaunchesTable.self, at: row)
            for (number, phase) in launch.phases.enumerated() {
                try self.phase.write((row, phase), PhasesTable.self, at: firstPhase + number)
            }
            for (number, named) in launch.storedProcesses.enumerated() {
                try processes.write((row, named), ProcessesTable.self, at: firstProcess + number)
            }
        }
        try file.commit()
    }

    /// Marks a stored launch as one that does not count after all, because of later ones.
    ///
    /// - Parameter index: in ``Measurement/launches``; other indices are ignored.
    package func discard(
        _ index: Int, as reason: MeasuredLaunch.Discard
    ) throws(RecordingError) {
        try file.write { () throws(SQLiteFailure) in
            try discarding.bind(1, reason.rawValue)
            try discarding.bind(2, Int64(index))
            try discarding.run()
        }
        try file.commit()
    }

    /// More launches should count than first requested. The file says so once it is finished.
    package func extend(to requested: Int) { written.requested = requested }

    /// Stores why there are no more launches, and closes the file.
    package func finish(_ ending: Measurement.Ending) throws(RecordingError) {
        written.ending = ending
        try file.write { () throws(SQLiteFailure) in
            try header.write(written, MeasurementTable.self, at: 0)
        }
        try file.end()
    }

    private static func write(
        _ measurement: Measurement, to database: Database
    ) throws(RecordingError) {
        let header = try database.prepare(MeasurementTable.layout.insertion)
        let conditions = try database.prepare(ConditionsTable.layout.insertion)
        let until = try database.prepare(UntilTable.layout.insertion)
        let machine = try database.prepare(MachineTable.layout.insertion)
        let arm = try database.prepare(ArmsTable.layout.insertion)
        let argument = try database.prepare(ArmArgumentsTable.layout.insertion)
        try database.attempt { () throws(SQLiteFailure) in
            try header.write(measurement.header, MeasurementTable.self, at: 0)
            try conditions.write(measurement.conditions, ConditionsTable.self, at: 0)
            for (row, condition) in measurement.conditions.until.enumerated() {
                try until.write(condition, UntilTable.self, at: row)
            }
            try machine.write(measurement.machine, MachineTable.self, at: 0)
            var arguments = 0
            for (row, measured) in measurement.arms.enumerated() {
                try arm.write(measured, ArmsTable.self, at: row)
                for word in measured.command {
                    try argument.write((row, word), ArmArgumentsTable.self, at: arguments)
                    arguments += 1
                }
            }
        }
    }
}

extension Measurement {
    fileprivate func ending(_ ending: Ending) -> Measurement {
        var copy = self
        copy.header.ending = ending
        return copy
    }
}

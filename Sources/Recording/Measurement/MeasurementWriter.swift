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

    /// Creates the file, readable only by its owner (mode 0600), with all that is known before the
    /// first launch, and with the launches in `measurement`. The file must not exist: see
    /// ``RecordingFile/keepOlder(at:for:)``.
    package init(
        creating path: String, _ measurement: Measurement
    ) throws(RecordingError) {
        var rules = MeasurementRules()
        try Consistency.attempt(path) { () throws(Inconsistency) in try rules.admit(measurement) }
        self.rules = rules
        // A killed process cannot write its ending, so the file says unknown from the begin.
        let begun = measurement.ending(.unknown)
        written = begun.header
        file = try FileWriter(creating: path, .measurement) { database throws(RecordingError) in
            try MeasurementWriter.write(begun, to: database)
        }
        (header, launch, phase, processes, discarding) = try file.prepare {
            database throws(RecordingError) in
            (
                try database.prepare(MeasurementSchema.measurement.replacement),
                try database.prepare(MeasurementSchema.launches.insertion),
                try database.prepare(MeasurementSchema.phases.insertion),
                try database.prepare(MeasurementSchema.processes.insertion),
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
            try self.launch.write(launch, row: row)
            for (number, phase) in launch.phases.enumerated() {
                try self.phase.write(phase, launch: row, row: firstPhase + number)
            }
            for (number, named) in launch.storedProcesses.enumerated() {
                try processes.write(named, launch: row, row: firstProcess + number)
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
            try discarding.bind(2, index)
            try discarding.run()
        }
        try file.commit()
    }

    /// More launches should count than first requested. The file says so once it is finished.
    package func extend(to requested: Int) { written.requested = requested }

    /// Stores why there are no more launches, and closes the file.
    package func finish(_ ending: Measurement.Ending) throws(RecordingError) {
        written.ending = ending
        try file.write { () throws(SQLiteFailure) in try header.write(written) }
        try file.end()
    }

    private static func write(
        _ measurement: Measurement, to database: Database
    ) throws(RecordingError) {
        let header = try database.prepare(MeasurementSchema.measurement.insertion)
        let conditions = try database.prepare(MeasurementSchema.conditions.insertion)
        let until = try database.prepare(MeasurementSchema.until.insertion)
        let machine = try database.prepare(MeasurementSchema.machine.insertion)
        let arm = try database.prepare(MeasurementSchema.arms.insertion)
        let argument = try database.prepare(MeasurementSchema.arguments.insertion)
        try database.attempt { () throws(SQLiteFailure) in
            try header.write(measurement.header)
            try conditions.write(measurement.conditions)
            for (row, condition) in measurement.conditions.until.enumerated() {
                try until.bind(1, row)
                try until.bind(2, condition)
                try until.run()
            }
            try machine.write(measurement.machine)
            var arguments = 0
            for (row, measured) in measurement.arms.enumerated() {
                try arm.bind(1, row)
                try arm.bind(2, measured.path)
                try arm.run()
                for word in measured.command {
                    try argument.write(word, image: row, row: arguments)
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

extension MeasuredLaunch {
    /// A launch without processes has a row, too.
    var storedProcesses: [MeasuredProcesses?] {
        guard let processes else { return [] }
        return processes.isEmpty ? [nil] : processes
    }
}

/// One row per value; values are bound in the order of the columns in ``MeasurementSchema``.
extension Statement {
    fileprivate func write(_ header: Measurement.Header) throws(SQLiteFailure) {
        try bind(1, 0 as Int64)
        try bind(2, header.requested)
        try bind(3, header.versionName)
        try bind(4, header.recorderVersion)
        try bind(5, header.date)
        try bind(6, header.ending.rawValue)
        try run()
    }

    fileprivate func write(_ conditions: MeasuredConditions) throws(SQLiteFailure) {
        try bind(1, 0 as Int64)
        try bind(2, conditions.cache.rawValue)
        try bind(3, conditions.network)
        try bind(4, conditions.diskRate)
        try run()
    }

    fileprivate func write(_ machine: MeasuredMachine) throws(SQLiteFailure) {
        try bind(1, 0 as Int64)
        try bind(2, machine.host)
        try bind(3, machine.kernel)
        try bind(4, machine.architecture)
        try bind(5, machine.processor)
        try bind(6, machine.cores)
        try bind(7, machine.memory)
        try bind(8, machine.governor)
        try bind(9, machine.boot)
        try run()
    }

    fileprivate func write(_ launch: MeasuredLaunch, row: Int) throws(SQLiteFailure) {
        let (outcome, value) = launch.outcome.stored
        try bind(1, row)
        try bind(2, launch.arm)
        try bind(3, launch.start.nanoseconds)
        try bind(4, launch.discarded?.rawValue)
        try bind(5, launch.wall.nanoseconds)
        try bind(6, launch.held.nanoseconds)
        try bind(7, launch.cpu?.nanoseconds)
        try bind(8, launch.mainBlocked?.nanoseconds)
        try bind(9, launch.minorFaults)
        try bind(10, launch.majorFaults)
        try bind(11, launch.readBytes)
        try bind(12, launch.cachedBytes)
        try bind(13, launch.fileBytes)
        try bind(14, launch.otherWork?.nanoseconds)
        try bind(15, launch.stolen?.nanoseconds)
        try bind(16, launch.frequency)
        try bind(17, outcome)
        try bind(18, value)
        try bind(19, launch.readyBy)
        try bind(20, launch.output)
        try run()
    }

    fileprivate func write(
        _ phase: MeasuredPhase, launch: Int, row: Int
    ) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, launch)
        try bind(3, phase.name)
        try bind(4, phase.wall.nanoseconds)
        try bind(5, phase.cpu?.nanoseconds)
        try run()
    }

    /// - Parameter processes: nil: the launch had none.
    fileprivate func write(
        _ processes: MeasuredProcesses?, launch: Int, row: Int
    ) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, launch)
        try bind(3, processes?.name)
        try bind(4, processes?.count ?? 0)
        try bind(5, processes?.running ?? 0)
        try bind(6, processes?.wall.nanoseconds ?? 0)
        try bind(7, processes?.cpu?.nanoseconds)
        try run()
    }
}

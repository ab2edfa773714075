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
    /// Tables that others refer to come first.
    fileprivate mutating func measurement() throws(ReadFailure) -> Measurement {
        let header = try measurementHeader()
        let (conditions, machine) = (try self.conditions(), try self.machine())
        var measurement = Measurement(
            header: header, arms: try arms(), conditions: conditions, machine: machine)
        var rules = MeasurementRules()
        try Self.admit { () throws(Inconsistency) in try rules.admit(measurement) }
        measurement.launches = try launches()
        try readPhases(into: &measurement.launches)
        if database.version >= 2 { try readProcesses(into: &measurement.launches) }
        for launch in measurement.launches {
            try Self.admit { () throws(Inconsistency) in try rules.admit(launch) }
        }
        return measurement
    }

    /// The one row of a table.
    private mutating func only<Value>(
        _ table: Schema.Table, _ body: (inout Row) throws(ReadFailure) -> Value
    ) throws(ReadFailure) -> Value {
        var found: Value?
        try scan(table) { row, _ throws(ReadFailure) in
            guard row.number == 0 else { throw .inconsistency(row.problem("more than one row")) }
            found = try body(&row)
        }
        guard let found else {
            throw .inconsistency(Inconsistency(table: table.name, row: 0, problem: "is missing"))
        }
        return found
    }

    private mutating func measurementHeader() throws(ReadFailure) -> Measurement.Header {
        try only(MeasurementSchema.measurement) { row throws(ReadFailure) in
            var header = Measurement.Header(
                requested: try row.integer(1), versionName: try row.optionalText(2),
                recorderVersion: try row.text(3), date: try row.integer(4))
            header.ending = try row.word(5)
            return header
        }
    }

    private mutating func conditions() throws(ReadFailure) -> MeasuredConditions {
        var conditions = try only(MeasurementSchema.conditions) { row throws(ReadFailure) in
            MeasuredConditions(
                cache: try row.word(1), network: try row.optionalText(2),
                diskRate: try row.optional(3))
        }
        try scan(MeasurementSchema.until) { row, _ throws(ReadFailure) in
            conditions.until.append(try row.text(1))
        }
        return conditions
    }

    private mutating func machine() throws(ReadFailure) -> MeasuredMachine {
        try only(MeasurementSchema.machine) { row throws(ReadFailure) in
            MeasuredMachine(
                host: try row.text(1), kernel: try row.text(2), architecture: try row.text(3),
                processor: try row.text(4), cores: try row.integer(5), memory: try row.integer(6),
                governor: try row.optionalText(7), boot: try row.optionalText(8))
        }
    }

    private mutating func arms() throws(ReadFailure) -> [MeasuredArm] {
        var arms: [MeasuredArm] = []
        try scan(MeasurementSchema.arms) { row, _ throws(ReadFailure) in
            arms.append(MeasuredArm(command: [], path: try row.text(1)))
        }
        try scan(MeasurementSchema.arguments) { row, _ throws(ReadFailure) in
            let arm: Int = try row.integer(1)
            guard arms.indices.contains(arm) else { throw row.invalid(1) }
            arms[arm].command.append(try row.text(2))
        }
        return arms
    }

    private mutating func launches() throws(ReadFailure) -> [MeasuredLaunch] {
        var launches: [MeasuredLaunch] = []
        try scan(MeasurementSchema.launches) { row, _ throws(ReadFailure) in
            launches.append(try Self.launch(&row))
        }
        return launches
    }

    private static func launch(_ row: inout Row) throws(ReadFailure) -> MeasuredLaunch {
        let outcome = Recording.Outcome(
            storedName: try row.optionalText(16), value: try row.optional(17))
        guard let outcome else { throw row.invalid(16) }
        var launch = MeasuredLaunch(
            arm: try row.integer(1), start: try row.span(2), wall: try row.span(4),
            outcome: outcome)
        if !row.isNull(3) { launch.discarded = try row.word(3) as MeasuredLaunch.Discard }
        launch.held = try row.span(5)
        launch.cpu = try row.optionalSpan(6)
        launch.mainBlocked = try row.optionalSpan(7)
        launch.minorFaults = try row.optional(8)
        launch.majorFaults = try row.optional(9)
        launch.readBytes = try row.optional(10)
        launch.cachedBytes = try row.optional(11)
        launch.fileBytes = try row.optional(12)
        launch.otherWork = try row.optionalSpan(13)
        launch.stolen = try row.optionalSpan(14)
        launch.frequency = try row.optional(15)
        launch.readyBy = try row.optionalText(18)
        launch.output = try row.text(19)
        return launch
    }

    /// They come in the order of their launches.
    private mutating func readPhases(into launches: inout [MeasuredLaunch]) throws(ReadFailure) {
        var last = 0
        try scan(MeasurementSchema.phases) { row, _ throws(ReadFailure) in
            let index: Int = try row.integer(1)
            guard launches.indices.contains(index), index >= last else { throw row.invalid(1) }
            launches[index].phases.append(
                MeasuredPhase(
                    name: try row.text(2), wall: try row.span(3), cpu: try row.optionalSpan(4)))
            last = index
        }
    }
}

extension TableReader {
    /// They come in the order of their launches, too.
    private mutating func readProcesses(into launches: inout [MeasuredLaunch]) throws(ReadFailure) {
        var last = 0
        try scan(MeasurementSchema.processes) { row, _ throws(ReadFailure) in
            let index: Int = try row.integer(1)
            guard launches.indices.contains(index), index >= last else { throw row.invalid(1) }
            last = index
            guard let name = try row.optionalText(2) else {
                guard launches[index].processes == nil else { throw row.invalid(2) }
                launches[index].processes = []
                return
            }
            // A launch has either one row for "none", or rows for processes.
            guard launches[index].processes != [] else { throw row.invalid(2) }
            let processes = MeasuredProcesses(
                name: name, count: try row.integer(3), running: try row.integer(4),
                wall: try row.span(5), cpu: try row.optionalSpan(6))
            if launches[index].processes == nil { launches[index].processes = [] }
            launches[index].processes?.append(processes)
        }
    }
}

extension Row {
    fileprivate func optionalSpan(_ column: Int32) throws(ReadFailure) -> TimeSpan? {
        (try optional(column) as Int64?).map(TimeSpan.init(nanoseconds:))
    }

    /// One of the words that the column may have.
    fileprivate mutating func word<Word: RawRepresentable<String>>(
        _ column: Int32
    ) throws(ReadFailure) -> Word {
        guard let word = Word(rawValue: try text(column)) else { throw invalid(column) }
        return word
    }
}

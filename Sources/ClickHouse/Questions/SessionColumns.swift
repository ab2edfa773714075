import Analysis
import ProfileModel

/// The parts of the table `sessions` that all queries about measurements share.
enum SessionColumns {
    /// Sessions with equal numbers can be compared.
    static func series(_ machines: LaunchHistory.Machines) -> String {
        """
        cityHash64(program, arguments, cache, isNull(network), ifNull(network, ''), \
        isNull(disk_rate), ifNull(disk_rate, 0), until, processor, cores, kernel, architecture, \
        \(machines == .each ? "host" : "''"))
        """
    }

    private static let names = [
        "path", "called", "arguments", "toString(cache)", "network", "disk_rate", "until_given",
        "toString(host)", "toString(kernel)", "toString(architecture)", "toString(processor)",
        "cores", "memory", "governor", "boot", "version", "toString(recorder)", "requested",
        "toUnixTimestamp64Nano(date)", "toString(ending)",
    ]

    /// The latest session's columns. In a tuple, because argMax ignores NULLs otherwise.
    static let latest = "argMax(tuple(\(names.joined(separator: ", "))), (date, file))"

    /// The same as columns, from a tuple called `latest`.
    static let ofLatest = names.indices.map { "latest.\($0 + 1)" }.joined(separator: ", ")
}

extension Measurement {
    /// Of ``SessionColumns/ofLatest``, without launches.
    init(latest row: inout RowBinaryReader) throws(StoreError) {
        let path = try row.text()
        let called = try row.text()
        let arguments = try row.list { row throws(StoreError) in try row.text() }
        let cache = try row.text()
        let network = try row.optional { row throws(StoreError) in try row.text() }
        let diskRate = try row.optional { row throws(StoreError) in try row.integer(Int64.self) }
        let until = try row.list { row throws(StoreError) in try row.text() }
        let machine = try MeasuredMachine(latest: &row)
        let version = try row.optional { row throws(StoreError) in try row.text() }
        let recorder = try row.text()
        let requested = Int(clamping: try row.integer(Int64.self))
        var header = Measurement.Header(
            requested: requested, versionName: version, recorderVersion: recorder,
            date: try row.integer())
        header.ending = Measurement.Ending(rawValue: try row.text()) ?? .unknown
        self.init(
            header: header, arms: [MeasuredArm(command: [called] + arguments, path: path)],
            conditions: MeasuredConditions(
                cache: MeasuredConditions.Cache(rawValue: cache) ?? .warm, network: network,
                diskRate: diskRate, until: until),
            machine: machine)
    }
}

extension MeasuredMachine {
    fileprivate init(latest row: inout RowBinaryReader) throws(StoreError) {
        self.init(
            host: try row.text(), kernel: try row.text(), architecture: try row.text(),
            processor: try row.text(), cores: Int(clamping: try row.integer(Int64.self)),
            memory: try row.integer(),
            governor: try row.optional { row throws(StoreError) in try row.text() },
            boot: try row.optional { row throws(StoreError) in try row.text() })
    }
}

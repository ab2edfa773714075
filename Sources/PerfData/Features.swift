/// The facts that perf stores about a recording besides its records (`HEADER_…` of perf's
/// util/header.h).
struct Features {
    private(set) var commandLine: [String] = []
    private(set) var architecture: String?
    /// Names of events, by their ids.
    private(set) var names: [UInt64: String] = [:]
    /// Names of events in their order, for files without ids.
    private(set) var orderedNames: [String] = []
    private(set) var buildIDs: [PerfBuildID] = []
    private(set) var tracingData: [UInt8] = []

    static let tracingDataNumber = 1
    private static let buildIDNumber = 2
    private static let architectureNumber = 6
    private static let commandLineNumber = 11
    private static let eventNumber = 12

    /// No real section is as large; larger ones are left out.
    static let largestSection = 16 << 20

    static func isOfInterest(_ number: Int) -> Bool {
        [
            tracingDataNumber, buildIDNumber, architectureNumber, commandLineNumber, eventNumber,
        ].contains(number)
    }

    /// Takes the content of a section. Damaged parts are left out: samples do not need them.
    mutating func add(_ number: Int, _ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        switch number {
        case Self.tracingDataNumber: tracingData = bytes
        case Self.buildIDNumber: addBuildIDs(&reader)
        case Self.architectureNumber: architecture = reader.countedText()
        case Self.commandLineNumber:
            let count = reader.u32() ?? 0
            commandLine = []
            for _ in 0..<count {
                guard let word = reader.countedText() else { return }
                commandLine.append(word)
            }
        case Self.eventNumber: addEvents(&reader)
        default: break
        }
    }

    private mutating func addBuildIDs(_ reader: inout ByteReader) {
        while reader.remaining >= RawRecord.headerSize {
            let offset = reader.position
            guard reader.u32() != nil, let misc = reader.integer(UInt16.self),
                let size = reader.integer(UInt16.self), Int(size) >= RawRecord.headerSize,
                let body = reader.take(Int(size) - RawRecord.headerSize)
            else { return }
            let record = RawRecord(
                type: RecordType.buildID, misc: misc, body: ByteReader(body),
                offset: UInt64(offset))
            if let found = Self.buildID(record) { buildIDs.append(found) }
        }
    }

    static func buildID(_ record: RawRecord) -> PerfBuildID? {
        var reader = record.body
        guard reader.i32() != nil, let bytes = reader.take(24) else { return nil }
        let size = record.has(RecordFlag.buildIDHasSize) ? min(Int(bytes[20]), 20) : 20
        return PerfBuildID(
            path: reader.text(), buildID: Array(bytes.prefix(size)), isKernel: record.isKernel)
    }

    private mutating func addEvents(_ reader: inout ByteReader) {
        guard let count = reader.u32(), let size = reader.u32(), size > 0 else { return }
        for _ in 0..<count {
            guard reader.skip(Int(size)) != nil, let idCount = reader.u32(),
                let name = reader.countedText(), let ids = reader.words(Int(idCount))
            else { return }
            orderedNames.append(name)
            for id in ids { names[id] = name }
        }
    }
}

import Architecture
import Glibc

/// A perf.data file, or a folder with several (`perf record --threads`), read once from beginning to end.
/// The memory used does not grow with the file.
package final class PerfFile {
    /// In a folder: the file with the header.
    private let file: FileWindow
    private let header: FileHeader
    private var features = Features()
    private var parser = RecordParser()
    /// The file's own records; in a folder also the records of the other files.
    private var parts: [Part]
    private var problem: PerfDataError?

    /// Records of one file.
    private struct Part {
        var stream: RecordStream
        var sorter = RoundSorter()
        /// The next one in the order of time; nil: not known yet, or there is none.
        var head: PerfRecord?
        var isAtEnd = false
    }

    private static let mostIDs = 4 << 20

    package init(path: String) throws(PerfDataError) {
        let folder = PerfFolder(path)
        file = try FileWindow(path: folder?.main ?? path)
        header = try FileHeader(file)
        parts = [Part(stream: RecordStream(file, header))]
        for path in folder?.others ?? [] {
            parts.append(Part(stream: RecordStream(recordsOf: try FileWindow(path: path))))
        }
        guard !header.isPipe else { return }
        try readAttributes()
        // They are at the end of the file, so a file that was cut short lacks them.
        try? readFeatures()
        try checkArchitecture()
    }

    /// The events, as far as known: a file that was written to a pipe has them among its records.
    package var events: [PerfEvent] { parser.events }
    /// The words of the `perf record` command; empty: unknown.
    package var commandLine: [String] { features.commandLine }
    /// The build ids that perf looked up after recording. In files written to a pipe they come as
    /// records, too.
    package var buildIDs: [PerfBuildID] { features.buildIDs }
    /// The kernel's description of tracepoints' fields; empty: none.
    package var tracingData: [UInt8] { features.tracingData }
    /// True if perf ended before it could finish the file.
    package var isUnfinished: Bool { header.dataSize == nil }
    /// How far the file has been read, in bytes.
    package var position: UInt64 { parts.reduce(0) { $0 &+ $1.stream.position } }
    /// In bytes.
    package var size: UInt64 { file.size &+ parts.dropFirst().reduce(0) { $0 &+ $1.stream.size } }

    /// The next record in the order of time; nil at the end. If the file is damaged, all earlier
    /// records are returned first, and then the error is thrown once.
    package func next() throws(PerfDataError) -> PerfRecord? {
        for index in parts.indices { fill(index) }
        let known = parts.indices.filter { parts[$0].head != nil }
        // A record without a time holds from the beginning.
        let earliest = known.min { left, right in
            guard let time = parts[right].head?.time else { return false }
            return parts[left].head?.time.map { $0 < time } ?? true
        }
        if let earliest {
            defer { parts[earliest].head = nil }
            return parts[earliest].head
        }
        defer { problem = nil }
        if let problem { throw problem }
        return nil
    }

    /// Reads on until the part's next record is known.
    private func fill(_ index: Int) {
        while parts[index].head == nil {
            parts[index].head = parts[index].sorter.next()
            if parts[index].head != nil || parts[index].isAtEnd { return }
            do throws(PerfDataError) {
                if let record = try parts[index].stream.next() {
                    try take(record, of: index)
                } else {
                    end(index)
                }
            } catch {
                problem = problem ?? error
                end(index)
            }
        }
    }

    private func end(_ index: Int) {
        parts[index].isAtEnd = true
        parts[index].sorter.finish()
    }

    private func take(_ record: RawRecord, of part: Int) throws(PerfDataError) {
        switch record.type {
        case RecordType.finishedRound: parts[part].sorter.finishRound()
        case RecordType.attribute: try addAttribute(record)
        case RecordType.eventUpdate: updateEvent(record)
        case RecordType.feature: try addFeature(record)
        case RecordType.tracingData:
            var reader = record.body
            guard let size = reader.u32() else {
                throw corrupt("tracing data without a size", record)
            }
            features.add(
                Features.tracingDataNumber, try parts[part].stream.take((UInt64(size) &+ 7) & ~7))
        case RecordType.auxiliaryTrace:
            var reader = record.body
            guard let size = reader.u64() else { throw corrupt("a trace without a size", record) }
            try parts[part].stream.skip(size)
        default:
            switch parser.parse(record) {
            case .record(let parsed): parts[part].sorter.add(parsed)
            case .skipped: break
            case .damaged(let what): throw corrupt(what, record)
            }
        }
    }

    private func corrupt(_ what: String, _ record: RawRecord) -> PerfDataError {
        PerfDataError(path: file.path, kind: .corrupt(what), offset: record.offset)
    }

    private func corrupt(_ what: String, at offset: UInt64) -> PerfDataError {
        PerfDataError(path: file.path, kind: .corrupt(what), offset: offset)
    }

    // MARK: A file's header

    private func readAttributes() throws(PerfDataError) {
        let section = header.attributes
        guard section.fits(file.size) else {
            throw PerfDataError(path: file.path, kind: .truncated, offset: file.size)
        }
        let size = header.attributeSize
        guard size >= UInt64(PerfEvent.smallestSize + 16), size <= 4096, section.size > 0,
            section.size <= UInt64(Features.largestSection)
        else { throw corrupt("events of an impossible size", at: 16) }
        var ids = 0
        for index in 0..<section.size / size {
            let offset = section.offset &+ index &* size
            var reader = try file.reader(at: offset, count: Int(size))
            guard var event = PerfEvent(reader.dropping(last: 16)),
                reader.skip(Int(size) - 16) != nil, let place = FileHeader.Section(&reader),
                place.fits(file.size), place.size / 8 <= UInt64(Self.mostIDs - ids)
            else { throw corrupt("an event that makes no sense", at: offset) }
            var idReader = ByteReader(try file.read(at: place.offset, upTo: Int(place.size)))
            event.ids = idReader.words(idReader.remaining / 8) ?? []
            ids += event.ids.count
            parser.add(event)
        }
    }

    /// The table of these sections is behind the data.
    private func readFeatures() throws(PerfDataError) {
        guard header.dataSize != nil, header.data.fits(file.size) else { return }
        let table = header.data.end(in: file.size)
        var reader = ByteReader(try file.read(at: table, upTo: header.features.count * 16))
        for number in header.features {
            guard let section = FileHeader.Section(&reader) else { return }
            guard Features.isOfInterest(number), section.fits(file.size),
                section.size <= UInt64(Features.largestSection)
            else { continue }
            features.add(number, try file.read(at: section.offset, upTo: Int(section.size)))
        }
        nameEvents()
    }

    private func nameEvents() {
        for (index, name) in features.orderedNames.enumerated() { parser.name(name, at: index) }
        for (id, name) in features.names { parser.name(name, id: id) }
    }

    private func checkArchitecture() throws(PerfDataError) {
        if let name = features.architecture, name != Machine.name {
            throw PerfDataError(path: file.path, kind: .foreignArchitecture(name))
        }
    }

    // MARK: The same in records from a pipe

    private func addAttribute(_ record: RawRecord) throws(PerfDataError) {
        var peek = record.body
        guard peek.skip(4) != nil, let size = peek.u32(), size >= PerfEvent.smallestSize,
            Int(size) <= record.body.remaining, events.count < 4096
        else { throw corrupt("an event that makes no sense", record) }
        let idSize = record.body.remaining - Int(size)
        guard var event = PerfEvent(record.body.dropping(last: idSize)),
            var reader = record.body.last(idSize)
        else { throw corrupt("an event that makes no sense", record) }
        event.ids = reader.words(reader.remaining / 8) ?? []
        parser.add(event)
    }

    private func updateEvent(_ record: RawRecord) {
        var reader = record.body
        // PERF_EVENT_UPDATE__NAME
        guard let kind = reader.u64(), kind == 2, let id = reader.u64() else { return }
        parser.name(reader.text(), id: id)
    }

    private func addFeature(_ record: RawRecord) throws(PerfDataError) {
        var reader = record.body
        guard let number = reader.u64().flatMap({ Int(exactly: $0) }),
            Features.isOfInterest(number)
        else { return }
        features.add(number, reader.take(reader.remaining) ?? [])
        nameEvents()
        try checkArchitecture()
    }
}

/// The output of `perf record --threads`: a folder with the file `data`, which has the header, and
/// with files of records only, one for each of perf's threads (`data.0`, `data.1` …;
/// perf.data-directory-format.txt of the kernel's sources).
struct PerfFolder {
    let main: String
    let others: [String]

    private static let mostFiles = 1024

    /// nil: the path is no such folder.
    init?(_ path: String) {
        func kind(of path: String) -> mode_t? {
            var status = stat()
            return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
        }
        let main = "\(path)/data"
        guard kind(of: path) == S_IFDIR, kind(of: main) == S_IFREG else { return nil }
        self.main = main
        others = (0..<Self.mostFiles).lazy.map { "\(path)/data.\($0)" }
            .prefix { kind(of: $0) == S_IFREG }.map { $0 }
    }
}

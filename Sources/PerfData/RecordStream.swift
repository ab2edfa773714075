import CZstd

/// The records of a file one after another, including compressed ones.
struct RecordStream {
    private let file: FileWindow
    /// The offset of the next record.
    private var offset: UInt64
    private let end: UInt64
    /// True if the file ends before its data should.
    private let isCutShort: Bool

    private var decompressor: Decompressor?
    private var compressedOffset: UInt64 = 0
    /// Decompressed bytes, and how many of them were returned.
    private var inner: [UInt8] = []
    private var innerPosition = 0

    private static let step = 128 << 10

    init(_ file: FileWindow, _ header: FileHeader) {
        self.file = file
        offset = header.data.offset
        if header.dataSize == nil {
            end = file.size
            isCutShort = false
        } else {
            end = header.data.end(in: file.size)
            isCutShort = !header.data.fits(file.size)
        }
    }

    /// For a file that contains only records.
    init(recordsOf file: FileWindow) {
        self.file = file
        offset = 0
        end = file.size
        isCutShort = false
    }

    /// The size of the file, in bytes.
    var size: UInt64 { file.size }
    /// How many bytes of the file have been read.
    var position: UInt64 { offset }

    private func failure(_ kind: PerfDataError.Kind, at offset: UInt64) -> PerfDataError {
        PerfDataError(path: file.path, kind: kind, offset: offset)
    }

    /// nil at the end.
    mutating func next() throws(PerfDataError) -> RawRecord? {
        while true {
            if let record = try innerRecord() { return record }
            if try decompressMore() { continue }
            guard let record = try outerRecord() else {
                guard innerPosition >= inner.count else {
                    throw failure(.truncated, at: compressedOffset)
                }
                return nil
            }
            switch record.type {
            case RecordType.compressed, RecordType.compressedWithSize: try feed(record)
            default: return record
            }
        }
    }

    /// Skips bytes that follow a record but are not part of its size.
    mutating func skip(_ count: UInt64) throws(PerfDataError) {
        let (place, overflow) = offset.addingReportingOverflow(count)
        guard !overflow, place <= end else { throw failure(.truncated, at: offset) }
        offset = place
    }

    /// The same, but reads them: at most ``Features/largestSection``.
    mutating func take(_ count: UInt64) throws(PerfDataError) -> [UInt8] {
        let start = offset
        try skip(count)
        guard count <= UInt64(Features.largestSection) else { return [] }
        return try file.read(at: start, upTo: Int(count))
    }

    // MARK: In the file

    private mutating func outerRecord() throws(PerfDataError) -> RawRecord? {
        guard offset < end else {
            if isCutShort { throw failure(.truncated, at: end) }
            return nil
        }
        guard end &- offset >= UInt64(RawRecord.headerSize) else {
            throw failure(.truncated, at: offset)
        }
        var reader = try file.reader(at: offset, count: RawRecord.headerSize)
        guard let (type, misc, size) = Self.header(&reader) else {
            throw failure(.corrupt("a record of an impossible size"), at: offset)
        }
        guard end &- offset >= UInt64(size) else { throw failure(.truncated, at: offset) }
        var body = try file.reader(at: offset, count: size)
        body.skip(RawRecord.headerSize)
        defer { offset &+= UInt64(size) }
        return RawRecord(type: type, misc: misc, body: body, offset: offset)
    }

    private static func header(
        _ reader: inout ByteReader
    ) -> (type: UInt32, misc: UInt16, size: Int)? {
        guard let type = reader.u32(), let misc = reader.integer(UInt16.self),
            let size = reader.integer(UInt16.self), Int(size) >= RawRecord.headerSize
        else { return nil }
        return (type, misc, Int(size))
    }

    // MARK: Compressed

    private mutating func feed(_ record: RawRecord) throws(PerfDataError) {
        if decompressor == nil { decompressor = Decompressor() }
        compressedOffset = record.offset
        var body = record.body
        var count = body.remaining
        if record.type == RecordType.compressedWithSize {
            guard let told = body.count() else {
                throw failure(.corrupt("a compressed record without its bytes"), at: record.offset)
            }
            count = told
        }
        decompressor?.feed(body.take(count) ?? [])
    }

    /// True if there may be more now.
    private mutating func decompressMore() throws(PerfDataError) -> Bool {
        guard let decompressor, decompressor.hasInput else { return false }
        inner.removeFirst(innerPosition)
        innerPosition = 0
        do throws(Decompressor.Failure) {
            try decompressor.decompress(into: &inner, limit: Self.step)
        } catch {
            throw failure(
                .corrupt(
                    error == .tooLarge
                        ? "far more was compressed than a recording holds"
                        : "a compressed record cannot be decompressed"),
                at: compressedOffset)
        }
        return true
    }

    private mutating func innerRecord() throws(PerfDataError) -> RawRecord? {
        guard inner.count - innerPosition >= RawRecord.headerSize else { return nil }
        var reader = ByteReader(inner, innerPosition..<inner.count)
        guard let (type, misc, size) = Self.header(&reader) else {
            throw failure(
                .corrupt("a compressed record of an impossible size"), at: compressedOffset)
        }
        guard inner.count - innerPosition >= size else { return nil }
        // A copy, since later decompression changes the buffer.
        let start = innerPosition + RawRecord.headerSize
        let body = Array(inner[start..<innerPosition + size])
        innerPosition += size
        return RawRecord(
            type: type, misc: misc, body: ByteReader(body), offset: compressedOffset)
    }
}

/// Decompresses the records of `perf record -z`: one zstd stream over all compressed records. It
/// produces only as much at a time as the caller requests.
///
/// Unsafe code: the stream is owned here; zstd reads and writes within the given sizes.
final class Decompressor {
    enum Failure: Error {
        case damaged
        /// The output is larger than any real recording's.
        case tooLarge
    }

    private let stream: OpaquePointer
    private var input: [UInt8] = []
    private var position = 0
    private var mayHoldMore = false
    private var taken: UInt64 = 0
    private var given: UInt64 = 0

    /// For a recording, zstd makes at most some hundred bytes from one. A file that was made to
    /// fill the disk makes 30,000.
    private static let largestRatio: UInt64 = 4096
    private static let allowance: UInt64 = 64 << 20

    init?() {
        guard let stream = ZSTD_createDStream() else { return nil }
        self.stream = stream
        ZSTD_initDStream(stream)
    }

    deinit { ZSTD_freeDStream(stream) }

    /// True if ``decompress(into:limit:)`` may produce more without new input.
    var hasInput: Bool { position < input.count || mayHoldMore }

    func feed(_ bytes: [UInt8]) {
        input = bytes
        position = 0
        taken &+= UInt64(bytes.count)
    }

    /// Appends up to `limit` bytes.
    func decompress(into output: inout [UInt8], limit: Int) throws(Failure) {
        var used = 0
        var isDamaged = false
        let chunk = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            input.withUnsafeBytes { source in
                var from = ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: position)
                var to = ZSTD_outBuffer(dst: buffer.baseAddress, size: limit, pos: 0)
                let status = ZSTD_decompressStream(stream, &to, &from)
                isDamaged = ZSTD_isError(status) != 0
                used = from.pos
                count = min(to.pos, limit)
            }
        }
        if isDamaged || (chunk.isEmpty && used == position && used < input.count) {
            position = input.count
            mayHoldMore = false
            throw .damaged
        }
        position = min(used, input.count)
        // If the buffer is full, zstd may have kept something back.
        mayHoldMore = chunk.count == limit
        given &+= UInt64(chunk.count)
        guard given <= Self.allowance &+ taken &* Self.largestRatio else { throw .tooLarge }
        output.append(contentsOf: chunk)
    }
}

/// The beginning of a perf.data file (perf.data-file-format.txt of the kernel's sources): where its
/// parts are.
struct FileHeader {
    struct Section {
        var offset: UInt64
        var size: UInt64

        init?(_ reader: inout ByteReader) {
            guard let offset = reader.u64(), let size = reader.u64() else { return nil }
            self.offset = offset
            self.size = size
        }

        init(offset: UInt64, size: UInt64) {
            self.offset = offset
            self.size = size
        }

        /// One past its last byte; at most the file's end.
        func end(in fileSize: UInt64) -> UInt64 {
            let (end, overflow) = offset.addingReportingOverflow(size)
            return overflow ? fileSize : min(end, fileSize)
        }

        func fits(_ fileSize: UInt64) -> Bool {
            offset <= fileSize && size <= fileSize &- offset
        }
    }

    /// Written by `perf record -o -`: everything else is in the records.
    var isPipe: Bool
    /// nil: perf ended before it could write the size.
    var dataSize: UInt64?
    var data: Section
    var attributes: Section
    var attributeSize: UInt64
    /// The numbers of the further sections, in order.
    var features: [Int]

    /// "PERFILE2", read as a number.
    private static let magic: UInt64 = 0x3245_4C49_4652_4550
    /// "PERFFILE", the old format.
    private static let oldMagic: UInt64 = 0x454C_4946_4652_4550
    private static let pipeSize: UInt64 = 16
    private static let fullSize = 104

    init(_ file: FileWindow) throws(PerfDataError) {
        func failure(_ kind: PerfDataError.Kind, at offset: UInt64 = 0) -> PerfDataError {
            PerfDataError(path: file.path, kind: kind, offset: offset)
        }
        var reader = ByteReader(try file.read(at: 0, upTo: Self.fullSize))
        guard let magic = reader.u64() else { throw failure(.notPerfData) }
        switch magic {
        case Self.magic: break
        case Self.magic.byteSwapped: throw failure(.foreignByteOrder)
        case Self.oldMagic, Self.oldMagic.byteSwapped: throw failure(.oldFormat)
        default: throw failure(.notPerfData)
        }
        guard let size = reader.u64() else { throw failure(.truncated, at: 8) }
        if size == Self.pipeSize {
            isPipe = true
            data = Section(offset: size, size: file.size &- min(size, file.size))
            dataSize = data.size
            attributes = Section(offset: 0, size: 0)
            attributeSize = 0
            features = []
            return
        }
        guard size >= UInt64(Self.fullSize) else {
            throw failure(.corrupt("a header of \(size) bytes"), at: 8)
        }
        guard let attributeSize = reader.u64(), let attributes = Section(&reader),
            let data = Section(&reader), Section(&reader) != nil, let bits = reader.words(4)
        else { throw failure(.truncated, at: file.size) }
        isPipe = false
        self.attributeSize = attributeSize
        self.attributes = attributes
        self.data = data
        dataSize = data.size == 0 ? nil : data.size
        features = (0..<256).filter { bits[$0 / 64] & 1 << UInt64($0 % 64) != 0 }
    }
}

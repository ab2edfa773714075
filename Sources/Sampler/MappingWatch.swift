import ProfileModel

/// Keeps track of where code is mapped, at little cost: the size of the address space at each
/// tick (1 µs), the size of its executable part when that moved (8 µs), and the whole list of
/// mappings only when that moved, too.
struct MappingWatch: ~Copyable {
    private let pid: Int32
    private var sizeFile: ProcFile?
    private var buffer = ReadBuffer(capacity: 16384)
    private var totalPages: Int64 = -1
    private var codeSize: Int64 = -1
    private(set) var code: [CodeMapping] = []
    /// The ends of all mappings, ascending, with their starts: where a stack can end.
    private var regions: [(start: UInt64, end: UInt64)] = []

    init(pid: Int32) {
        self.pid = pid
        sizeFile = ProcFile("/proc/\(pid)/statm")
    }

    /// The code mappings if they changed since the last call, else nil.
    mutating func changes() -> [CodeMapping]? {
        sizeFile?.read(into: &buffer)
        var text = buffer.text
        guard let pages = text.decimal(), pages != totalPages else { return nil }
        totalPages = pages
        buffer.readAll(path: "/proc/\(pid)/status")
        let size = ProcFormats.field("VmLib:", buffer.text) ?? -1
        guard size != codeSize else { return nil }
        codeSize = size
        return refreshed()
    }

    /// Reads the list anew; nil when it is as it was (or the process is gone).
    mutating func refreshed() -> [CodeMapping]? {
        buffer.readAll(path: "/proc/\(pid)/maps")
        let lines = ProcFormats.maps(buffer.text)
        guard !lines.isEmpty else { return nil }
        regions = lines.map { ($0.start, $0.end) }
        let newer = lines.filter { $0.isExecutable && $0.path != "[vsyscall]" }.map {
            CodeMapping(
                start: $0.start, end: $0.end, fileOffset: $0.fileOffset, path: $0.path,
                inode: $0.inode)
        }
        guard newer != code else { return nil }
        code = newer
        return newer
    }

    /// A later exec: the file of sizes is another process image's.
    mutating func restart() {
        sizeFile = ProcFile("/proc/\(pid)/statm")
        totalPages = -1
        codeSize = -1
        code = []
        regions = []
    }

    func isCode(_ address: UInt64) -> Bool {
        code.contains { $0.start <= address && address < $0.end }
    }

    /// The end of the mapping that holds an address, as last seen; nil when none was seen there.
    func regionEnd(around address: UInt64) -> UInt64? {
        var (low, high) = (0, regions.count)
        while low < high {
            let middle = (low + high) / 2
            if regions[middle].end <= address { low = middle + 1 } else { high = middle }
        }
        guard low < regions.count, regions[low].start <= address else { return nil }
        return regions[low].end
    }
}

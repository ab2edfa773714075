import Glibc

/// The contents of /proc/PID/stat: proc(5).
struct ProcessEntry: Hashable {
    var pid: Int32
    /// At most 15 bytes; the process may choose them.
    var name: String
    /// True if the whole process has ended, not only its first thread, and its parent has not
    /// waited for it yet.
    var isZombie: Bool
    var parent: Int32
    var session: Int32
    /// In clock ticks since boot; together with the id it identifies the process.
    var start: Int64

    /// From the line of such a file; nil: it is malformed.
    init?(_ line: [UInt8]) {
        // The name is in brackets, and may contain brackets itself.
        guard let open = line.firstIndex(of: UInt8(ascii: "(")),
            let close = line.lastIndex(of: UInt8(ascii: ")")), open < close,
            let pid = Int32(Self.text(line[..<open]).filter { $0 != " " })
        else { return nil }
        let fields = Self.text(line[(close + 1)...]).split(separator: " ")
        guard fields.count > 19, let parent = Int32(fields[1]), let session = Int32(fields[3]),
            let threads = Int64(fields[17]), let start = Int64(fields[19])
        else { return nil }
        self.pid = pid
        name = Self.text(line[(open + 1)..<close])
        isZombie = (fields[0] == "Z" || fields[0] == "X") && threads <= 1
        self.parent = parent
        self.session = session
        self.start = start
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// nil: it is gone.
    static func read(_ pid: Int32) -> ProcessEntry? {
        FileText.bytes(of: "/proc/\(pid)/stat").flatMap { ProcessEntry($0) }
    }

    /// Every process that we can see.
    static func all() -> [ProcessEntry] {
        guard let folder = opendir("/proc") else { return [] }
        defer { closedir(folder) }
        var found: [ProcessEntry] = []
        while let entry = readdir(folder) {
            let pid = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { Int32(String(cString: $0)) }
            }
            if let pid, let process = read(pid) { found.append(process) }
        }
        return found
    }

    /// The children of `pid`, their children and so on, except those in `kept` and their
    /// descendants.
    static func descendants(
        of pid: Int32, among all: [ProcessEntry], except kept: Set<Int32> = []
    ) -> [ProcessEntry] {
        let children = Dictionary(grouping: all, by: \.parent)
        var found: [ProcessEntry] = []
        var known: Set<Int32> = kept.union([pid])
        var next = [pid]
        while let parent = next.popLast() {
            for child in children[parent] ?? [] where known.insert(child.pid).inserted {
                found.append(child)
                next.append(child.pid)
            }
        }
        return found
    }
}

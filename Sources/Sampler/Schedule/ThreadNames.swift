/// Names of threads that are not the process's, asked for once.
struct ThreadNames {
    private var known: [Int32: String] = [:]
    private var buffer = ReadBuffer(capacity: 64)

    /// Ids are used again in the end; so is memory.
    private static let limit = 1024

    /// Empty for a thread that is gone.
    mutating func name(of tid: Int32) -> String {
        if let name = known[tid] { return name }
        if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
        buffer.readAll(path: "/proc/\(tid)/comm")
        var text = buffer.text
        let name = text.restOfLine()
        known[tid] = name
        return name
    }
}

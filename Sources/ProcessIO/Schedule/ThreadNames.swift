/// Names of threads outside the process, each read once.
package struct ThreadNames {
    private var known: [Int32: String] = [:]
    private var buffer = ReadBuffer(capacity: 64)

    /// More names would take too much memory, and ids are reused in the end.
    private static let limit = 1024

    /// Empty for a thread that is gone.
    package mutating func name(of tid: Int32) -> String {
        if let name = known[tid] { return name }
        if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
        buffer.readAll(path: "/proc/\(tid)/comm")
        var text = buffer.text
        let name = text.restOfLine()
        known[tid] = name
        return name
    }
}

/// The strings of a file by position, each once: formats name them by number.
struct StringTable {
    private(set) var list: [String] = []
    private var positions: [String: Int] = [:]

    /// The position of a string, which is added if it is not there.
    mutating func callAsFunction(_ text: String) -> Int {
        if let known = positions[text] { return known }
        positions[text] = list.count
        list.append(text)
        return list.count - 1
    }
}

/// The strings of a file, each once: formats refer to them by number.
package struct StringTable {
    package private(set) var list: [String] = []
    private var positions: [String: Int] = [:]

    package init() {}

    /// The position of a string, which is added if it is new.
    package mutating func callAsFunction(_ text: String) -> Int {
        if let known = positions[text] { return known }
        positions[text] = list.count
        list.append(text)
        return list.count - 1
    }
}

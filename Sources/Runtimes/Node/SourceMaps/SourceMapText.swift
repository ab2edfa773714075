/// The members of a source map's JSON that we need; all others are skipped.
struct SourceMapText {
    private(set) var root = ""
    private(set) var sources: [String] = []
    private(set) var names: [String] = []
    private(set) var mappings: [UInt8] = []

    private static let mostStrings = 1 << 20

    /// False: it is not a JSON object, or not of version 3.
    mutating func read(_ json: [UInt8]) -> Bool {
        var scanner = JSONScanner(json)
        // Some servers put this before JSON, so that it cannot run as a script.
        scanner.skip(prefix: ")]}'")
        guard scanner.take("{") else { return false }
        var version: [UInt8] = []
        if scanner.take("}") { return false }
        repeat {
            guard let key = scanner.string(), scanner.take(":") else { return false }
            let isRead =
                switch String(decoding: key, as: UTF8.self) {
                case "version": scanner.scalar().map { version = $0 } != nil
                case "sourceRoot": Self.element(&scanner).map { root = $0 } != nil
                case "sources": Self.list(&scanner).map { sources = $0 } != nil
                case "names": Self.list(&scanner).map { names = $0 } != nil
                case "mappings": scanner.string().map { mappings = $0 } != nil
                default: scanner.skipValue()
                }
            guard isRead else { return false }
        } while scanner.take(",")
        return scanner.take("}") && version == [UInt8(ascii: "3")]
    }

    private static func list(_ scanner: inout JSONScanner) -> [String]? {
        guard scanner.take("[") else { return nil }
        var list: [String] = []
        if scanner.take("]") { return list }
        repeat {
            guard list.count < mostStrings, let text = element(&scanner) else { return nil }
            list.append(text)
        } while scanner.take(",")
        return scanner.take("]") ? list : nil
    }

    /// A string; `null` stands for an empty one.
    private static func element(_ scanner: inout JSONScanner) -> String? {
        if let text = scanner.string() { return String(decoding: text, as: UTF8.self) }
        return scanner.scalar() == nil ? nil : ""
    }
}

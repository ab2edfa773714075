import ProfileModel

/// Maps the parts of a script that a compiler or bundler has written to their originals.
///
/// Format: ECMA-426. Maps that consist of several maps (`sections`) are not read.
package struct SourceMap: Sendable {
    /// The map's names for the sources, with its `sourceRoot`; empty: not given.
    package let sources: [String]
    private let names: [String]
    /// By line and column.
    private let segments: [MappingReader.Segment]

    /// Larger maps are not read.
    package static let largest = 64 << 20
    private static let mostSegments = 1 << 21

    /// nil: it is not a map of version 3. Everything after damage is left out.
    package init?(_ json: [UInt8]) {
        guard json.count <= Self.largest else { return nil }
        var text = SourceMapText()
        guard text.read(json) else { return nil }
        let root = text.root.isEmpty || text.root.hasSuffix("/") ? text.root : text.root + "/"
        sources = text.sources.map { $0.isEmpty ? "" : root + $0 }
        names = text.names
        var reader = MappingReader(text.mappings[...])
        var segments: [MappingReader.Segment] = []
        while segments.count < Self.mostSegments, let segment = reader.next() {
            segments.append(segment)
        }
        // The segments of a line need not be in order.
        segments.sort { ($0.line, $0.column) < ($1.line, $1.column) }
        self.segments = segments
    }

    /// A place in an original.
    package struct Place: Hashable, Sendable {
        /// An index into ``SourceMap/sources``.
        package var source: Int
        /// 1-based.
        package var line: Int32
        /// The map's name for the item at this place; nil: it has none.
        package var name: String?

        package init(source: Int, line: Int32, name: String?) {
            self.source = source
            self.line = line
            self.name = name
        }
    }

    /// Where a function was written.
    ///
    /// - Parameters:
    ///   - function: its name and place in the generated script.
    ///   - text: its line in the generated script.
    package func place(of function: NodeFunction, text: some RandomAccessCollection<UInt8>)
        -> Place?
    {
        let (line, column) = (function.line - 1, function.column - 1)
        let end = segments.partitionIndex { ($0.line, $0.column) > (line, column) }
        guard end > 0, segments[end - 1].line == line, let original = segments[end - 1].original,
            sources.indices.contains(Int(original.source)), original.line < Int32.max
        else { return nil }
        return Place(
            source: Int(original.source), line: original.line + 1,
            name: name(of: function, upTo: end, original.source, Array(text)))
    }

    /// The map names the item at a place, which may be a parameter. So we ask it about the place
    /// where the generated script has the function's name, a little before its parameters.
    private func name(
        of function: NodeFunction, upTo end: Int, _ source: Int32, _ text: [UInt8]
    ) -> String? {
        let word = function.name.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ".") }
            .last.map(Array.init)
        guard let word else { return nil }
        for segment in segments[..<end].suffix(Self.mostLookedAt).reversed() {
            guard segment.line == function.line - 1 else { return nil }
            guard let original = segment.original, original.source == source,
                let name = original.name, names.indices.contains(Int(name)),
                text.dropFirst(Int(segment.column)).starts(with: word)
            else { continue }
            return names[Int(name)]
        }
        return nil
    }

    private static let mostLookedAt = 8
}

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

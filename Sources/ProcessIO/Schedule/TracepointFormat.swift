/// Where a tracepoint's fields are in its raw data, from its `format` file in tracefs. Unexpected
/// text gives no format, rather than wrong fields.
package struct TracepointFormat: Hashable {
    package struct Field: Hashable {
        package var offset: Int
        /// 1, 2, 4 or 8 bytes.
        package var size: Int
    }

    /// The kernel's number of the tracepoint.
    package let id: UInt16
    private let fields: [String: Field]

    /// No event has a longer record.
    private static let longestRecord = 4096

    /// - Parameter text: lines such as `field:pid_t prev_pid;	offset:24;	size:4;	signed:1;`
    package init?(_ text: String) {
        var id: UInt16?
        var fields: [String: Field] = [:]
        for line in text.split(separator: "\n") {
            if line.hasPrefix("ID: ") { id = UInt16(line.dropFirst(4)) }
            guard let (name, field) = Self.field(line) else { continue }
            fields[name] = field
        }
        guard let id else { return nil }
        self.id = id
        self.fields = fields
    }

    /// nil if there is no such field that is a plain number.
    package subscript(name: String) -> Field? { fields[name] }

    private static func field(_ line: Substring) -> (String, Field)? {
        let parts = line.split(separator: ";").map { $0.drop { $0 == "\t" || $0 == " " } }
        guard parts.count >= 3, let declaration = parts[0].value(of: "field:"),
            let name = declaration.split(separator: " ").last, !name.contains("["),
            let offset = parts[1].value(of: "offset:").flatMap({ Int($0) }),
            let size = parts[2].value(of: "size:").flatMap({ Int($0) }),
            [1, 2, 4, 8].contains(size), 0...longestRecord ~= offset
        else { return nil }
        return (String(name), Field(offset: offset, size: size))
    }
}

extension Substring {
    fileprivate func value(of key: String) -> Substring? {
        hasPrefix(key) ? dropFirst(key.count) : nil
    }
}

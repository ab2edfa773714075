/// Headers in the form of OpenTelemetry's exporters (`OTEL_EXPORTER_OTLP_HEADERS`):
/// `name=value,name=value`, with percent-encoded values.
package enum HeaderList {
    /// nil: the text is invalid.
    package static func parse(_ text: String) -> [MetricsSender.Header]? {
        var headers: [MetricsSender.Header] = []
        for pair in text.split(separator: ",") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let value = decoded(parts[1]) else { return nil }
            let name = parts[0].filter { $0 != " " }
            let isToken = name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
            guard !name.isEmpty, isToken else { return nil }
            headers.append((name, value))
        }
        return headers
    }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

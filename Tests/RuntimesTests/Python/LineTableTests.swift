import Runtimes
import TestSupport
import Testing

/// Tables that interpreters made, and which lines they say that they mean: `Tables/record-tables`.
struct LineTableTests {
    private typealias Recorded = (table: PythonLineTable, lines: [Int32?])

    private static let formats: [(String, PythonLineTable.Format)] = [
        ("3.9", .deltas), ("3.10", .ranges), ("3.11", .locations), ("3.14", .locations),
    ]

    @Test(arguments: formats)
    func `lines are those that the interpreter says`(
        _ release: String, _ format: PythonLineTable.Format
    ) throws {
        let recorded = try Self.recorded(release, format)
        #expect(recorded.count >= 30)
        for (table, lines) in recorded {
            let read = lines.indices.map { table.line(at: Int32(2 * $0)) }
            #expect(read == lines, "\(release), line \(table.firstLine)")
            // Within an instruction, too.
            #expect(lines.indices.map { table.line(at: Int32(2 * $0 + 1)) } == lines)
            #expect(table.line(at: -1) == table.firstLine)
        }
    }

    @Test func `behind the last instruction there is no line`() throws {
        for (release, format) in Self.formats where format != .deltas {
            for (table, lines) in try Self.recorded(release, format) {
                #expect(table.line(at: Int32(2 * lines.count)) == nil)
            }
        }
    }

    @Test func `what could not be a table does no harm`() {
        var numbers = SeededNumbers(seed: 4)
        for round in 0..<3000 {
            let count = Int.random(in: 0..<60, using: &numbers)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &numbers) }
            // Numbers that never end.
            if round % 3 == 0 { bytes += [UInt8](repeating: 0xFF, count: 40) }
            let first = Int32.random(in: .min ... .max, using: &numbers)
            for format in [PythonLineTable.Format.deltas, .ranges, .locations] {
                let table = PythonLineTable(format, bytes, firstLine: first)
                for place: Int32 in [.min, -1, 0, 1, 100, 5000, .max] { _ = table.line(at: place) }
            }
        }
    }

    private static func recorded(
        _ release: String, _ format: PythonLineTable.Format
    ) throws -> [Recorded] {
        let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        return try lines(of: "/\(folder)/Tables/\(release).txt").map { line in
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            let bytes = stride(from: 0, to: words[1].count, by: 2).compactMap { place in
                UInt8(words[1].dropFirst(place).prefix(2), radix: 16)
            }
            let lines = try words[2...].flatMap { word in
                let parts = word.split(separator: "x")
                return [Int32?](repeating: Int32(parts[0]), count: try #require(Int(parts[1])))
            }
            let table = PythonLineTable(
                format, bytes, firstLine: try #require(Int32(words[0])))
            return (table, lines)
        }
    }
}

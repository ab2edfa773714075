import Shipping
import Testing

@testable import ClickHouse

struct StoreAddressTests {
    @Test func hostPortAndDatabase() throws {
        let address = try StoreAddress("http://db.example:9000/launches_1")
        #expect(address.server.authority == "db.example:9000")
        #expect(address.server.path == "/")
        #expect(address.database == "launches_1")
        #expect(address.description == "http://db.example:9000/launches_1")
        #expect(try StoreAddress("http://[::1]/d").server.authority == "[::1]:8123")
    }

    @Test(arguments: [
        "http://h:8123", "http://h:8123/", "http://h:8123/a/b", "http://h:8123/a;b",
        "http://h:8123/1a", "http://h:8123/a?b=c", "http://h:8123/a%20", "http://h:8123/ä",
        "http://h:8123/a`b", "http://h:8123/\(String(repeating: "a", count: 65))",
    ])
    func invalidDatabaseNames(text: String) {
        #expect(throws: StoreAddress.Problem.self) { try StoreAddress(text) }
    }

    @Test func credentialsAreNotTakenHere() {
        #expect(throws: StoreAddress.Problem.address(.credentials)) {
            try StoreAddress("http://me:secret@h:8123/d")
        }
        #expect(StoreAddress.Problem.address(.credentials).description.contains("CLICKHOUSE_USER"))
    }

    @Test func secureAddressesAreRefused() {
        #expect(throws: StoreAddress.Problem.address(.encrypted)) {
            try StoreAddress("https://h/d")
        }
    }
}

struct MonthTests {
    private static let day: Int64 = 86_400_000_000_000

    /// Against the calendar's own rule, day by day.
    @Test func everyDayUntil2262() {
        var (year, month, dayOfMonth) = (1970, 1, 1)
        for day in 0..<106_000 as Range<Int64> {
            #expect(Month.number(of: day * Self.day) == year * 100 + month)
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            dayOfMonth += 1
            guard dayOfMonth > lengths[month - 1] else { continue }
            (dayOfMonth, month) = (1, month + 1)
            if month > 12 { (month, year) = (1, year + 1) }
        }
    }

    @Test func theLastNanosecondIsInIt() {
        #expect(Month.number(of: 31 * Self.day - 1) == 197_001)
        #expect(Month.number(of: 31 * Self.day) == 197_002)
        #expect(Month.number(of: .max) == 226_204)
    }
}

struct SchemaTests {
    @Test func statementsAreWhole() {
        let statements = Store.statements
        #expect(statements.count > 8)
        for statement in statements {
            #expect(statement.hasPrefix("CREATE "))
            #expect(statement.contains("IF NOT EXISTS"))
            #expect(!statement.hasSuffix(";"))
        }
        #expect(statements.contains { $0.contains("\(Store.schemaVersion)) AS version") })
    }

    /// What rows are written with is what tables are declared with, in the same words.
    @Test(arguments: Table.allCases) func columnsAreDeclared(table: Table) throws {
        let creation = try #require(
            Store.statements.first { $0.contains("EXISTS \(table.rawValue) (") })
        let names = creation.split(separator: "\n").filter { $0.hasPrefix("    ") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
            .filter { $0 != "--" }
        #expect(names == table.columns)
    }

    @Test func valuesCannotEndAQuestion() {
        #expect(SQL.text("a'b\\") == "unhex('6127625c')")
        #expect(SQL.list(["a", "\n"]) == "(unhex('61'), unhex('0a'))")
    }
}

struct StoreErrorTests {
    @Test func temporaryFailuresAreTriedAgain() {
        #expect(!StoreError.unreachable(.timedOut).isTemporary)
        #expect(!StoreError.changing.isTemporary)
        #expect(StoreError.unreachable(.connection(111)).isTemporary)
        #expect(!StoreError.unreachable(.unknownHost("")).isTemporary)
        #expect(StoreError.refused(status: 503, code: 0, words: "").isTemporary)
        #expect(StoreError.refused(status: 500, code: 241, words: "").isTemporary)
        #expect(!StoreError.refused(status: 400, code: 62, words: "").isTemporary)
        #expect(!StoreError.refused(status: 500, code: 243, words: "").isTemporary)
        #expect(!StoreError.noTables.isTemporary)
    }

    @Test func wordsForWhatOneCanDo() {
        #expect("\(StoreError.noTables)".contains("--create-tables"))
        #expect("\(StoreError.otherSchema(99))".contains("newer firstlight"))
        #expect("\(StoreError.otherSchema(0))".contains("new database"))
        #expect(
            "\(StoreError.refused(status: 403, code: 516, words: "x"))".contains("CLICKHOUSE_USER"))
    }
}

/// The type of a column, from the beginning of its declaration.
enum ColumnKind {
    case integer, text, blob

    init(_ declared: String) {
        switch declared.prefix(while: { $0 != " " }) {
        case "TEXT": self = .text
        case "BLOB": self = .blob
        default: self = .integer
        }
    }
}

/// The layout of a recording file, version 8. `docs/recording-format.md` explains every column.
///
/// Each table has the row's position in its list as `id`, from 0 without gaps. Both writing and
/// reading follow this one declaration. The rows of all tables except the header are packed, many
/// in one row of ``chunks``, see ``PackedRows``; up to version 6 they were plain SQL rows.
struct Schema {
    /// SQLite's `application_id`: "FLGT".
    static let applicationID: Int32 = 0x464C_4754
    /// SQLite's `user_version`. Increased when a reader of an older version would misread a file.
    static let version: Int32 = 8
    /// The first version with packed rows.
    static let firstPacked: Int32 = 7
    /// The first version with ``references``.
    static let firstWithReferences: Int32 = 8
    /// The first version that is still read.
    static let oldest: Int32 = 5

    struct Table {
        typealias Columns = KeyValuePairs<String, String>

        var name: String
        /// Names with their SQL types, without `id`.
        var columns: [(name: String, type: String)]
        /// The declaration in version 5, if it was different.
        private var former: [Table] = []

        /// For columns that are stored relative to another one: that column. `id` is 0.
        private(set) var bases: [Int: Int] = [:]
        /// True if a later row may replace an earlier one with the same id.
        private(set) var isUpdated = false

        /// Also what the file's own schema must say, exactly, before it is read.
        let creation: String
        private let rowTarget: String

        init(_ name: String, _ columns: Columns) {
            self.init(name, columns.map { (name: $0.key, type: $0.value) })
        }

        /// - Parameter added: further columns, which came with version 6.
        init(_ name: String, _ columns: Columns, in6 added: Columns) {
            self.init(name, (Array(columns) + Array(added)).map { (name: $0.key, type: $0.value) })
            former = [Table(name, columns)]
        }

        /// - Parameter earlier: all columns of version 5.
        init(_ name: String, _ columns: Columns, in5 earlier: Columns) {
            self.init(name, columns)
            former = [Table(name, earlier)]
        }

        private init(_ name: String, _ columns: [(name: String, type: String)]) {
            self.name = name
            self.columns = columns
            let list = columns.map { ", \($0.name) \($0.type)" }.joined()
            creation = "CREATE TABLE \(name)(id INTEGER PRIMARY KEY\(list))"
            let names = columns.map { ", \($0.name)" }.joined()
            let values = String(repeating: ", ?", count: columns.count)
            rowTarget = "INTO \(name)(id\(names)) VALUES (?\(values))"
        }

        /// The same table, with replaceable rows.
        fileprivate var updated: Table {
            var result = self
            result.isUpdated = true
            return result
        }

        /// The same table, with some columns stored relative to another one.
        fileprivate func writing(_ names: [String], from base: String) -> Table {
            var result = self
            let places = columns.indices.filter { names.contains(columns[$0].name) }
            let place = columns.firstIndex { $0.name == base }
            for column in places { result.bases[column + 1] = place.map { $0 + 1 } }
            return result
        }

        /// The table as a version of the recording's schema declares it.
        func asOf(_ version: Int32) -> Table { version < 6 ? former.first ?? self : self }

        var insertion: String { "INSERT " + rowTarget }

        /// Inserts a row, or replaces the one with its id.
        var replacement: String { "REPLACE " + rowTarget }

        var selection: String {
            let names = columns.map { ", \($0.name)" }.joined()
            return "SELECT id\(names) FROM \(name) ORDER BY id"
        }
    }

    static let header = Table(
        "header",
        [
            "pid": "INTEGER NOT NULL", "attached": "INTEGER NOT NULL",
            "capture": "TEXT NOT NULL", "frequency": "INTEGER NOT NULL",
            "ticks": "INTEGER NOT NULL", "missed_ticks": "INTEGER NOT NULL",
            "lateness_ns": "INTEGER NOT NULL", "lost_samples": "INTEGER NOT NULL",
            "held_ns": "INTEGER NOT NULL", "outcome": "TEXT", "outcome_value": "INTEGER",
            "recorder_version": "TEXT NOT NULL", "account": "TEXT", "source": "TEXT",
        ])
    static let notes = Table(
        "notes", ["kind": "TEXT NOT NULL", "value": "INTEGER NOT NULL"])
    static let children = Table(
        "children",
        [
            "pid": "INTEGER NOT NULL", "parent": "INTEGER NOT NULL", "name": "TEXT NOT NULL",
            "start_ns": "INTEGER NOT NULL", "end_ns": "INTEGER", "cpu_ns": "INTEGER",
            "outcome": "TEXT", "outcome_value": "INTEGER", "file": "TEXT",
            "parent_child": "INTEGER", "capture": "TEXT",
        ],
        in5: [
            "pid": "INTEGER NOT NULL", "parent": "INTEGER NOT NULL", "name": "TEXT NOT NULL",
            "start_ns": "INTEGER NOT NULL", "end_ns": "INTEGER NOT NULL",
            "cpu_ns": "INTEGER NOT NULL", "outcome": "TEXT", "outcome_value": "INTEGER",
            "file": "TEXT NOT NULL",
        ]
    ).updated
    static let images = Table(
        "images", ["path": "TEXT NOT NULL", "time_ns": "INTEGER NOT NULL"],
        in6: ["child": "INTEGER"])
    static let arguments = Table(
        "arguments", ["image": "INTEGER NOT NULL", "value": "TEXT NOT NULL"])
    static let marks = Table(
        "marks",
        [
            "kind": "INTEGER NOT NULL", "time_ns": "INTEGER NOT NULL",
            "minor_faults": "INTEGER", "major_faults": "INTEGER", "read_bytes": "INTEGER",
        ],
        in6: ["child": "INTEGER"])
    static let threads = Table(
        "threads",
        [
            "tid": "INTEGER NOT NULL", "name": "TEXT NOT NULL", "start_ns": "INTEGER NOT NULL",
            "end_ns": "INTEGER", "is_main": "INTEGER NOT NULL",
        ],
        in6: ["child": "INTEGER"]
    ).updated
    static let modules = Table(
        "modules", ["path": "TEXT NOT NULL", "build_id": "BLOB NOT NULL"])
    static let mappings = Table(
        "mappings",
        [
            "start_address": "INTEGER NOT NULL", "end_address": "INTEGER NOT NULL",
            "bias": "INTEGER NOT NULL", "module": "INTEGER NOT NULL",
            "time_ns": "INTEGER NOT NULL",
        ],
        in6: ["child": "INTEGER"]
    )
    .writing(["end_address", "bias"], from: "start_address")
    static let stacks = Table(
        "stacks",
        [
            "parent": "INTEGER", "module": "INTEGER", "address": "INTEGER NOT NULL",
            "kind": "INTEGER NOT NULL",
        ])
    static let slices = Table(
        "slices",
        [
            "thread": "INTEGER NOT NULL", "start_ns": "INTEGER NOT NULL",
            "running_ns": "INTEGER NOT NULL", "runnable_ns": "INTEGER NOT NULL",
            "preempted_ns": "INTEGER NOT NULL", "blocked_ns": "INTEGER NOT NULL",
            "stack": "INTEGER", "system_call": "INTEGER", "truncation": "INTEGER",
        ])
    static let libraries = Table(
        "libraries",
        [
            "path": "TEXT NOT NULL", "file": "TEXT", "start_ns": "INTEGER NOT NULL",
            "wall_ns": "INTEGER", "size": "INTEGER NOT NULL", "requested_by": "TEXT",
            "caller": "INTEGER", "initial": "INTEGER NOT NULL",
        ],
        in6: ["child": "INTEGER"])
    static let initializers = Table(
        "initializers",
        [
            "function": "INTEGER NOT NULL", "thread": "INTEGER NOT NULL",
            "start_ns": "INTEGER NOT NULL", "end_ns": "INTEGER NOT NULL",
            "cpu_ns": "INTEGER NOT NULL", "complete": "INTEGER NOT NULL",
        ])
    static let intervals = Table(
        "intervals",
        [
            "name": "TEXT NOT NULL", "category": "TEXT NOT NULL", "subsystem": "TEXT NOT NULL",
            "thread": "INTEGER", "start_ns": "INTEGER NOT NULL", "end_ns": "INTEGER NOT NULL",
            "complete": "INTEGER NOT NULL",
        ],
        in6: ["child": "INTEGER"])
    static let signposts = Table(
        "signposts",
        [
            "name": "TEXT NOT NULL", "category": "TEXT NOT NULL", "subsystem": "TEXT NOT NULL",
            "thread": "INTEGER", "time_ns": "INTEGER NOT NULL",
        ],
        in6: ["child": "INTEGER"])
    static let ready = Table(
        "ready", ["time_ns": "INTEGER NOT NULL", "condition": "TEXT NOT NULL"])
    static let waitReasons = Table(
        "wait_reasons",
        [
            "kind": "TEXT NOT NULL", "detail": "TEXT", "owner": "INTEGER", "place": "INTEGER",
        ])
    static let waits = Table(
        "waits",
        [
            "thread": "INTEGER NOT NULL", "start_ns": "INTEGER NOT NULL",
            "end_ns": "INTEGER NOT NULL", "reason": "INTEGER NOT NULL",
            "system_call": "INTEGER NOT NULL", "stack": "INTEGER",
        ])
    static let priorities = Table(
        "priorities",
        [
            "thread": "INTEGER NOT NULL", "time_ns": "INTEGER NOT NULL",
            "policy": "INTEGER NOT NULL", "nice": "INTEGER NOT NULL",
            "real_time": "INTEGER NOT NULL",
        ])
    static let runs = Table(
        "runs",
        ["thread": "INTEGER NOT NULL", "start_ns": "INTEGER NOT NULL", "data": "BLOB NOT NULL"])
    static let wakeups = Table(
        "wakeups",
        [
            "thread": "INTEGER NOT NULL", "time_ns": "INTEGER NOT NULL",
            "waker": "INTEGER NOT NULL", "waker_name": "TEXT NOT NULL",
            "waker_thread": "INTEGER", "interrupt": "INTEGER NOT NULL",
        ])
    static let strings = Table("strings", ["value": "TEXT NOT NULL"])
    static let symbols = Table(
        "symbols",
        [
            "module": "INTEGER", "address": "INTEGER NOT NULL", "kind": "INTEGER NOT NULL",
            "position": "INTEGER NOT NULL", "function": "INTEGER", "file": "INTEGER",
            "line": "INTEGER", "inlined": "INTEGER NOT NULL",
            "unoptimized": "INTEGER NOT NULL", "linkage_name": "INTEGER",
        ])
    static let moduleSymbols = Table(
        "module_symbols",
        [
            "module": "INTEGER NOT NULL", "debug_info_path": "TEXT", "debug_info_origin": "TEXT",
            "symbol_origin": "TEXT",
        ])
    static let moduleRemarks = Table(
        "module_remarks",
        ["module": "INTEGER NOT NULL", "kind": "TEXT NOT NULL", "detail": "TEXT NOT NULL"])

    /// Not in files with plain SQL tables, except in those unpacked for SQL.
    static let references = Table(
        "library_references",
        ["library": "INTEGER NOT NULL", "referenced": "INTEGER NOT NULL"])

    /// Packed rows of the other tables.
    static let chunks = Table(
        "chunks",
        [
            "name": "TEXT NOT NULL", "rows": "INTEGER NOT NULL", "size": "INTEGER NOT NULL",
            "data": "BLOB NOT NULL",
        ])

    /// The packed tables; those that others refer to come first.
    static let packed = [
        notes, children, images, arguments, marks, threads, modules, mappings, stacks, slices,
        libraries, initializers, intervals, signposts, ready, waitReasons, waits, priorities, runs,
        wakeups, strings, symbols, moduleSymbols, moduleRemarks,
        references,
    ]

    /// The plain SQL tables in a file with this version.
    static func tables(asOf version: Int32) -> [Table] {
        guard version < firstPacked else { return [header, chunks] }
        return ([header] + packed).filter { $0.name != references.name }.map { $0.asOf(version) }
    }
}

package import Analysis
import ProfileModel

extension Store {
    /// The names of all phases of recorded launches.
    package func phases(of programs: [String]) throws(StoreError) -> [String] {
        var answer = try ask(TopQuestion(programs, phase: nil).phases)
        return try answer.rows { row throws(StoreError) in try row.text() }
    }

    /// The largest costs in the recorded launches of each program, added up by the server.
    ///
    /// - Parameters:
    ///   - programs: their names; empty: all.
    ///   - phase: its full name; nil: the whole launch.
    package func top(
        of programs: [String], phase: String?
    ) throws(StoreError) -> [StoredTop] {
        let question = TopQuestion(programs, phase: phase)
        var answer = try ask(question.programs)
        var order: [String] = []
        var found: [String: StoredTop] = [:]
        while !answer.isAtEnd {
            let program = try StoredTop(&answer)
            order.append(program.program)
            found[program.program] = program
        }
        var places: [String: [String: Int]] = [:]
        answer = try ask(question.versions)
        while !answer.isAtEnd {
            let (program, build) = (try answer.text(), try answer.text())
            let version = try StoredTop.Version(build, &answer)
            guard let count = found[program]?.versions.count else { continue }
            places[program, default: [:]][build] = count
            found[program]?.versions.append(version)
        }
        // One answer for all programs could be too long.
        for program in order {
            let one = TopQuestion([program], phase: phase)
            try addThings(try ask(one.things), to: &found, places)
        }
        return order.compactMap { found[$0] }
    }

    /// Rows about the same thing are adjacent.
    private func addThings(
        _ rows: RowBinaryReader, to programs: inout [String: StoredTop],
        _ places: [String: [String: Int]]
    ) throws(StoreError) {
        var rows = rows
        var last: (program: String, thing: UInt64)?
        while !rows.isAtEnd {
            let (program, build) = (try rows.text(), try rows.text())
            let number = try rows.integer(UInt64.self)
            let thing = try StoredTop.Thing(&rows)
            let tally = try StoredTop.Tally(version: places[program]?[build] ?? 0, &rows)
            // Skip a new version that was shipped in between.
            guard places[program]?[build] != nil else { continue }
            if let last, last == (program, number),
                let place = programs[program]?.things.indices.last
            {
                programs[program]?.things[place].add(tally, detail: thing.detail)
            } else {
                var new = thing
                new.tallies = [tally]
                programs[program]?.things.append(new)
                last = (program, number)
            }
        }
    }
}

extension StoredTop {
    fileprivate init(_ row: inout RowBinaryReader) throws(StoreError) {
        self.init(program: try row.text())
        failed = try row.count()
        ends = try row.count()
        captures = try row.count()
        commands = try row.count()
    }
}

extension StoredTop.Version {
    fileprivate init(_ build: String, _ row: inout RowBinaryReader) throws(StoreError) {
        let launches = try row.count()
        let sum = TimeSpan(nanoseconds: try row.integer())
        let squares = try row.double()
        let first = try TopLaunch(&row)
        self.init(
            buildID: [UInt8](hex: build) ?? [], launches: launches, sum: sum, squares: squares,
            first: first, last: try TopLaunch(&row))
    }
}

extension TopLaunch {
    fileprivate init(_ row: inout RowBinaryReader) throws(StoreError) {
        self.init(path: try row.text(), date: try row.integer())
    }
}

extension StoredTop.Thing {
    fileprivate init(_ row: inout RowBinaryReader) throws(StoreError) {
        guard let kind = TopKind(storedNumber: try row.integer()) else { throw .malformed }
        let (name, module) = (try row.text(), try row.text())
        var thing = CostlyThing(kind: kind, name: name, module: module, isOwn: try row.bool())
        let reason = try row.text()
        thing.reason = reason.isEmpty ? nil : WaitReason.Kind(rawValue: reason)
        thing.thread = try row.optional { row throws(StoreError) in try row.text() }
        thing.file = try row.optional { row throws(StoreError) in try row.text() }
        thing.line = try row.optional { row throws(StoreError) in try row.integer(Int32.self) }
        self.init(thing, detail: try row.optional { row throws(StoreError) in try row.text() })
    }

    fileprivate mutating func add(_ tally: StoredTop.Tally, detail: String?) {
        tallies.append(tally)
        if self.detail != detail { self.detail = nil }
    }
}

extension StoredTop.Tally {
    fileprivate init(version: Int, _ row: inout RowBinaryReader) throws(StoreError) {
        let seen = try row.count()
        let unknown = try row.count()
        let unused = try row.count()
        var sum = TopCost()
        sum.own = try Cost(&row)
        sum.total = try Cost(&row)
        sum.count = try row.integer()
        let ownSquares = try row.double()
        self.init(
            version: version, seen: seen, unknown: unknown, unused: unused, sum: sum,
            ownSquares: ownSquares, totalSquares: try row.double())
    }
}

extension Cost {
    fileprivate init(_ row: inout RowBinaryReader) throws(StoreError) {
        self.init(
            wall: TimeSpan(nanoseconds: try row.integer()),
            cpu: TimeSpan(nanoseconds: try row.integer()),
            blocked: TimeSpan(nanoseconds: try row.integer()))
    }
}

extension [UInt8] {
    /// nil unless they are pairs of hexadecimal digits.
    fileprivate init?(hex text: String) {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        self = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[place..<place + 2], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16) else { return nil }
            append(byte)
        }
    }
}

import Analysis
import ProfileModel

/// The rows of a recording's costs, and the columns with which all of them begin.
struct CostHeader {
    private let program: ProgramColumns
    private let session: ShippedSession

    init(_ profile: Profile, _ session: ShippedSession) {
        program = ProgramColumns(profile)
        self.session = session
    }

    func write(_ number: UInt64, _ thing: CostlyThing, to row: inout RowBinaryWriter) {
        row.add(program.name)
        row.add(number)
        row.add(session.date)
        row.add(thing.kind.storedNumber)
        row.add(thing.name)
        row.add(thing.module)
        row.add(thing.isOwn)
        row.add(thing.reason?.rawValue ?? "")
        row.add(thing.thread)
        row.add(thing.file)
        row.add(thing.line) { $0.add($1) }
    }

    func write(_ stack: UInt64, _ things: [UInt64], to row: inout RowBinaryWriter) {
        row.add(program.name)
        row.add(program.build)
        row.add(stack)
        row.add(things) { $0.add($1) }
    }

    func write(_ stacks: RecordedCosts.Stacks, to row: inout RowBinaryWriter) {
        row.add(program.name)
        row.add(program.build)
        row.add(session.number)
        row.add(session.date)
        row.add(stacks.phase)
        row.add(Int8(stacks.isOfMainThread ? 1 : 2))
        row.add(stacks.times) { $0.add($1.stack) }
        row.add(stacks.times) { $0.add($1.cost.wall.nanoseconds) }
        row.add(stacks.times) { $0.add($1.cost.cpu.nanoseconds) }
        row.add(stacks.times) { $0.add($1.cost.blocked.nanoseconds) }
    }

    func write(_ part: RecordedCosts.Part, to row: inout RowBinaryWriter) {
        row.add(program.name)
        row.add(part.phase)
        row.add(session.number)
        row.add(session.date)
        row.add(program.build)
        row.add(part.wall.nanoseconds)
        row.add(part.costs) { $0.add($1.thing) }
        let times = part.costs.map { Self.times($0.cost) }
        for field in 0..<6 {
            row.add(times) { $0.add($1[field].nanoseconds) }
        }
        row.add(part.costs) { $0.add($1.cost.count) }
        row.add(part.costs) { $0.add($1.isKnown) }
        row.add(part.costs) { $0.add($1.isUsed) }
        let detailed = part.costs.compactMap { cost in cost.detail.map { (cost.thing, $0) } }
        row.add(detailed) { $0.add($1.0) }
        row.add(detailed) { $0.add($1.1) }
    }

    /// In the order of the columns.
    private static func times(_ cost: TopCost) -> [TimeSpan] {
        [cost.own, cost.total].flatMap { [$0.wall, $0.cpu, $0.blocked] }
    }
}

extension TopKind {
    /// The value in the schema's `Enum8`.
    var storedNumber: Int8 {
        switch self {
        case .function: 1
        case .wait: 2
        case .initializer: 3
        case .library: 4
        case .process: 5
        }
    }

    init?(storedNumber: Int8) {
        guard let kind = Self.allCases.first(where: { $0.storedNumber == storedNumber }) else {
            return nil
        }
        self = kind
    }
}

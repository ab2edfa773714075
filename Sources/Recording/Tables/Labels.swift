import ProfileModel

/// A program's report by a signpost: an interval or a single moment.
protocol Labelled {
    var name: String { get }
    var category: String { get }
    var subsystem: String { get }
    var thread: ThreadIndex? { get }
    var child: ChildIndex? { get }
}

extension Interval: Labelled {}
extension Signpost: Labelled {}

/// A table of programs' reports by signposts. The label is in its first columns.
protocol LabelledTable: RecordingTable where Value: Labelled {
    static var name: Self { get }
    static var category: Self { get }
    static var subsystem: Self { get }
    static var thread: Self { get }
}

extension RowEncoder where T: LabelledTable {
    mutating func setLabel(of value: T.Value) throws(SQLiteFailure) {
        try set(.name, value.name)
        try set(.category, value.category)
        try set(.subsystem, value.subsystem)
        try set(.thread, value.thread)
    }
}

extension Consistency {
    /// Checks the thread and the process that reported it.
    func checkLabel(of value: some Labelled, _ row: RowPlace) throws(Inconsistency) {
        try check(value.thread, row)
        try check(value.child, row)
    }
}

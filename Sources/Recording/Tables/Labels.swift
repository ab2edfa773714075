import ProfileModel

/// A program's report by a signpost: an interval or a single moment.
protocol Labelled {
    var name: String { get set }
    var category: String { get set }
    var subsystem: String { get set }
    var thread: ThreadIndex? { get set }
    var child: ChildIndex? { get set }
}

extension Interval: Labelled {}
extension Signpost: Labelled {}

extension ColumnVisitor {
    /// The first columns of a table of such reports.
    mutating func label(_ value: inout some Labelled) throws(Failure) {
        try text("name", &value.name)
        try text("category", &value.category)
        try text("subsystem", &value.subsystem)
        try integer("thread", &value.thread)
    }
}

extension Consistency {
    /// Checks the thread and the process that reported it.
    func checkLabel(of value: some Labelled, _ row: RowPlace) throws(Inconsistency) {
        try check(value.thread, row)
        try check(value.child, row)
    }
}

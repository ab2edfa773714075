package import ProfileModel

/// The programs that each process ran.
enum ImagesTable: RecordingTable {
    static let tableName = "images"
    static let layout = TableLayout(Self.self)

    static var blank: (image: Image, child: ChildIndex?) {
        (Image(path: "", arguments: [], time: .blank), nil)
    }

    static func visit<V: ColumnVisitor>(
        _ value: inout (image: Image, child: ChildIndex?), by columns: inout V
    ) throws(V.Failure) {
        try columns.text("path", &value.image.path)
        try columns.integer("time_ns", &value.image.time)
        try columns.integer("child", &value.child)
    }

    static func admit(
        _ value: (image: Image, child: ChildIndex?), at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.check(value.image.time, row)
        try rules.check(value.child, row)
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        var images = try reader.values(of: Self.self)
        try reader.scanValues(ArgumentsTable.self) { argument, row throws(ReadFailure) in
            guard images.indices.contains(argument.image) else { throw row.invalid("image") }
            images[argument.image].image.arguments.append(argument.text)
        }
        for (image, child) in images {
            if let child {
                recording.children[child.rawValue].images.append(image)
            } else {
                recording.images.append(image)
            }
        }
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        for (index, child) in recording.children.enumerated() {
            for image in child.images { try writer.append(image, of: ChildIndex(index)) }
        }
        for image in recording.images { try writer.append(image) }
    }
}

/// The arguments of all images.
enum ArgumentsTable: UnruledTable {
    static let tableName = "arguments"
    static let layout = TableLayout(Self.self)

    static var blank: (image: Int, text: String) { (0, "") }

    static func visit<V: ColumnVisitor>(
        _ argument: inout (image: Int, text: String), by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("image", &argument.image)
        try columns.text("value", &argument.text)
    }
}

extension RecordingWriter {
    /// - Parameter child: the child that ran it; nil: the recorded process.
    package func append(
        _ image: Image, of child: ChildIndex? = nil
    ) throws(RecordingError) {
        let row = rows.images.count
        try append((image, child), to: rows.images)
        for argument in image.arguments { try append((row, argument), to: rows.arguments) }
    }
}

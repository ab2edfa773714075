package import ProfileModel

/// The programs that each process ran.
enum ImagesTable: Int32, RecordingTable {
    case path = 1, time, child

    static let tableName = "images"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .path: .text("path")
        case .time: .integer("time_ns")
        case .child: .integer("child").orNull()
        }
    }

    static func write(
        _ value: (image: Image, child: ChildIndex?), to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.path, value.image.path)
        try row.set(.time, value.image.time)
        try row.set(.child, value.child)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> (
        image: Image, child: ChildIndex?
    ) {
        let image = Image(
            path: try row.text(.path), arguments: [], time: try row.integer(.time))
        return (image, try row.optional(.child))
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
            guard images.indices.contains(argument.image) else { throw row.invalid(.image) }
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
enum ArgumentsTable: Int32, UnruledTable {
    case image = 1, text

    static let tableName = "arguments"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .image: .integer("image")
        case .text: .text("value")
        }
    }

    static func write(
        _ argument: (image: Int, text: String), to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.image, argument.image)
        try row.set(.text, argument.text)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> (image: Int, text: String) {
        (try row.integer(.image), try row.text(.text))
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

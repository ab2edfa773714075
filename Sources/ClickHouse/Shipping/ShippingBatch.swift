/// Files that were read but not written yet: many small inserts are slow, and a large one takes
/// memory.
package struct ShippingBatch<File> {
    /// The number of files that one query asks about.
    package static var mostAsked: Int { 500 }
    /// How many bytes are written at once.
    private static var mostBytes: Int { 16 << 20 }

    package private(set) var files: [(file: File, rows: ShippedFile)] = []
    private var bytes = 0

    package init() {}

    /// The first file of the batch, which will be lost if writing fails; nil: there is none.
    package var first: File? { files.first?.file }

    package var isFull: Bool { bytes >= Self.mostBytes }

    package mutating func append(_ rows: ShippedFile, of file: File) {
        files.append((file, rows))
        bytes += rows.size
    }

    package mutating func removeAll() { (files, bytes) = ([], 0) }
}

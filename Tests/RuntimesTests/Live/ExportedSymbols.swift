import ELF

/// What an ELF file exports, by a process's addresses.
struct ExportedSymbols {
    private var addresses: [String: UInt64] = [:]

    /// - Parameter start: where the process has mapped the file's first byte.
    init(path: String, start: UInt64) {
        guard let file = try? ELFFile(path: path),
            let first = file.segments.first(where: \.isLoaded),
            let table = file.symbolTables(isDynamic: true).first
        else { return }
        for index in 0..<table.count {
            guard let symbol = table.entry(index), symbol.isDefined,
                let name = table.name(at: symbol.name)
            else { continue }
            addresses[String(decoding: name, as: UTF8.self)] =
                symbol.address &+ start &- first.address
        }
    }

    subscript(name: String) -> UInt64? { addresses[name] }
}

import Glibc

/// What an ELF file exports, by a process's addresses.
struct ExportedSymbols {
    private var addresses: [String: UInt64] = [:]

    /// - Parameter start: where the process has mapped the file's first byte.
    init(path: String, start: UInt64) {
        let file = content(of: path)
        guard file.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) else { return }
        func number(_ place: Int, _ size: Int) -> UInt64 {
            (0..<size).reduce(0) { $0 | UInt64(file[place + $1]) << UInt64(8 * $1) }
        }
        func offset(_ place: Int) -> Int { Int(number(place, 8)) }
        let isMovable = number(16, 2) == 3
        let (sections, count) = (offset(40), Int(number(60, 2)))
        for section in (0..<count).map({ sections + 64 * $0 }) where number(section + 4, 4) == 11 {
            let names = offset(sections + 64 * Int(number(section + 40, 4)) + 24)
            let table = offset(section + 24)
            for symbol in stride(from: table, to: table + offset(section + 32), by: 24)
            where number(symbol + 6, 2) != 0 {
                let name = file[(names + Int(number(symbol, 4)))...].prefix { $0 != 0 }
                addresses[String(decoding: name, as: UTF8.self)] =
                    number(symbol + 8, 8) &+ (isMovable ? start : 0)
            }
        }
    }

    subscript(name: String) -> UInt64? { addresses[name] }
}

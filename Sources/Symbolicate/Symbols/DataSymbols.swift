internal import ELF

/// Names of a module's data by their addresses. Few addresses are looked up, so there is no index.
struct DataSymbols {
    let tables: [ELFSymbolTable]

    /// How many addresses are looked up at once, at most.
    private static let mostAddresses = 256

    /// The mangled names of the objects that cover the addresses: the smallest object, and among
    /// aliases an exported one. The names are valid while the files live.
    func names(at addresses: [UInt64]) -> [UInt64: UnsafeRawBufferPointer] {
        var best: [UInt64: ELFSymbol] = [:]
        let wanted = addresses.prefix(Self.mostAddresses)
        for (number, table) in tables.enumerated().prefix(Int(UInt16.max)) {
            for index in 1..<max(table.count, 1) {
                guard let entry = table.entry(index), let symbol = ELFSymbol(entry, table: number),
                    symbol.kind == .object
                else { continue }
                for address in wanted where symbol.start <= address && address < symbol.end {
                    if best[address].map({ symbol.isBetter(than: $0) }) ?? true {
                        best[address] = symbol
                    }
                }
            }
        }
        return best.compactMapValues { tables[Int($0.table)].name(at: $0.name) }
    }
}

extension ELFSymbol {
    fileprivate func isBetter(than other: ELFSymbol) -> Bool {
        let (size, otherSize) = (end - start, other.end - other.start)
        return size != otherSize
            ? size < otherSize : binding.rawValue < other.binding.rawValue
    }
}

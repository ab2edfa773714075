import CElfutils
import Glibc
import GoTables

/// The functions of Go's runtime at which a physical stack begins: goroutines start in `goexit`,
/// threads in `mstart`, and `systemstack`, `mcall` and, to call C, `asmcgocall` go on on the thread's own
/// stack, whose outermost frame they are. Go's tables do not mark them.
struct GoEntries {
    private static let names = [
        "runtime.goexit", "runtime.mstart", "runtime.mstart0", "runtime.rt0_go", "runtime.mcall",
        "runtime.systemstack", "runtime.asmcgocall", "runtime.morestack", "runtime.clone",
        "_rt0_amd64",
        "_rt0_amd64_linux",
    ]

    private var ranges: [Range<UInt64>] = []

    /// Empty for a file that is not Go's.
    ///
    /// - Parameter table: tells the names where no symbols do.
    init(_ file: ELFFile, _ table: @autoclosure () -> GoFunctionTable? = nil) {
        guard file.hasSection(named: GoFunctionTable.signs) else { return }
        var found: [Range<UInt64>] = []
        file.forEachFunction { name, address, size in
            guard size > 0, Self.isEntry(name) else { return }
            let (end, overflow) = address.addingReportingOverflow(size)
            if !overflow { found.append(address..<end) }
        }
        ranges = found.isEmpty ? table().map(Self.entries) ?? [] : found
    }

    private static func entries(_ table: GoFunctionTable) -> [Range<UInt64>] {
        var found: [Range<UInt64>] = []
        for index in 0..<table.count where found.count < mostEntries {
            // Few functions are the runtime's: the others' names are not read to their ends.
            guard let function = table.function(index),
                table.hasName(function, beginning: "runtime.")
                    || table.hasName(function, beginning: "_rt0"),
                let name = table.name(of: function), name.withCString(isEntry)
            else { continue }
            found.append(function.start..<function.end)
        }
        return found
    }

    private static let mostEntries = 64

    /// Assembly functions carry the suffix of their calling convention.
    private static func isEntry(_ symbol: UnsafePointer<CChar>) -> Bool {
        names.contains { strcmp(symbol, $0) == 0 || strcmp(symbol, $0 + ".abi0") == 0 }
    }

    func contains(_ address: UInt64) -> Bool { ranges.contains { $0.contains(address) } }
}

import CElfutils
import Glibc
import GoTables

/// The functions of Go's runtime at which a physical stack begins: goroutines start in `goexit`,
/// threads in `mstart`, and `systemstack` and `mcall` go on on the thread's own stack, whose
/// outermost frame they are. Go's tables do not mark them.
struct GoEntries {
    private static let names = [
        "runtime.goexit", "runtime.mstart", "runtime.mstart0", "runtime.rt0_go", "runtime.mcall",
        "runtime.systemstack", "runtime.morestack", "runtime.clone", "_rt0_amd64",
        "_rt0_amd64_linux",
    ]

    /// Calls functions of C on the thread's own stack: see ``callsC(from:)``.
    private static let caller = "runtime.asmcgocall"

    private var ranges: [Range<UInt64>] = []
    private var callers: [Range<UInt64>] = []

    /// Empty for a file that is not Go's.
    ///
    /// - Parameter table: tells the names where no symbols do.
    init(_ file: ELFFile, _ table: @autoclosure () -> GoFunctionTable? = nil) {
        guard file.hasSection(named: GoFunctionTable.signs) else { return }
        var found = Self()
        file.forEachFunction { name, address, size in
            let (end, overflow) = address.addingReportingOverflow(size)
            if size > 0, !overflow { found.add(name, address..<end) }
        }
        self = found.ranges.isEmpty ? table().map { Self($0) } ?? found : found
    }

    private init() {}

    private init(_ table: GoFunctionTable) {
        for index in 0..<table.count where ranges.count < Self.mostEntries {
            // Few functions are the runtime's: the others' names are not read to their ends.
            guard let function = table.function(index),
                table.hasName(function, beginning: "runtime.")
                    || table.hasName(function, beginning: "_rt0"),
                let name = table.name(of: function)
            else { continue }
            add(name, function.start..<function.end)
        }
    }

    private mutating func add(_ name: UnsafePointer<CChar>, _ range: Range<UInt64>) {
        if Self.names.contains(where: { Self.isCalled(name, $0) }) { ranges.append(range) }
        if Self.isCalled(name, Self.caller) { callers.append(range) }
    }

    private static let mostEntries = 64

    /// Assembly functions carry the suffix of their calling convention.
    private static func isCalled(_ symbol: UnsafePointer<CChar>, _ name: String) -> Bool {
        strcmp(symbol, name) == 0 || strcmp(symbol, name + ".abi0") == 0
    }

    func contains(_ address: UInt64) -> Bool { ranges.contains { $0.contains(address) } }

    /// Whether an address is in the function that calls those of C for goroutines.
    func callsC(from address: UInt64) -> Bool { callers.contains { $0.contains(address) } }
}

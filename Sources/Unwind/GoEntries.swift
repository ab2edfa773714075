import ELF
import GoTables

/// The functions of Go's runtime at which a physical stack begins. Goroutines start in `goexit` and
/// threads in `mstart`. `systemstack` and `mcall` continue on the thread's own stack, and are its
/// outermost frame. Go's tables do not mark them.
struct GoEntries {
    private static let names: [StaticString] = [
        "runtime.goexit", "runtime.mstart", "runtime.mstart0", "runtime.rt0_go", "runtime.mcall",
        "runtime.systemstack", "runtime.morestack", "runtime.clone", "_rt0_amd64",
        "_rt0_amd64_linux",
    ]

    /// Calls C functions on the thread's own stack: see ``callsC(from:)``.
    private static let caller: StaticString = "runtime.asmcgocall"

    /// When C calls a goroutine back, the goroutine goes on as if this function had been called
    /// from the place where the goroutine called C: the runtime pushes the function's first
    /// address.
    private static let switching: StaticString = "runtime.systemstack_switch"

    private var ranges: [Range<UInt64>] = []
    private var switches: [UInt64] = []
    private var callers: [Range<UInt64>] = []

    /// Empty if the file is not Go's.
    ///
    /// - Parameter table: gives the names if there are no symbols.
    init(_ file: ELFFile, _ table: @autoclosure () -> GoFunctionTable? = nil) {
        guard GoFunctionTable.isExpected(in: file) else { return }
        var found = Self()
        file.forEachFunction { name, range in
            if !range.isEmpty { found.add(name, range) }
        }
        self = found.ranges.isEmpty ? table().map { Self($0) } ?? found : found
    }

    private init() {}

    private init(_ table: GoFunctionTable) {
        for index in 0..<table.count where ranges.count < Self.mostEntries {
            // Few functions belong to the runtime: other names are not read to the end.
            guard let function = table.function(index),
                table.hasName(function, beginning: "runtime.")
                    || table.hasName(function, beginning: "_rt0"),
                var name = table.name(of: function)
            else { continue }
            name.withUTF8 { add(UnsafeRawBufferPointer($0), function.start..<function.end) }
        }
    }

    private mutating func add(_ symbol: UnsafeRawBufferPointer, _ range: Range<UInt64>) {
        // Assembly functions carry the suffix of their calling convention.
        let hasSuffix = symbol.suffix(5).elementsEqual(".abi0".utf8)
        let name = UnsafeRawBufferPointer(rebasing: symbol.dropLast(hasSuffix ? 5 : 0))
        if Self.names.contains(where: { name.isText($0) }) { ranges.append(range) }
        if name.isText(Self.caller) { callers.append(range) }
        if name.isText(Self.switching) { switches.append(range.lowerBound) }
    }

    private static let mostEntries = 64

    func contains(_ address: UInt64) -> Bool { ranges.contains { $0.contains(address) } }

    /// True if an address is the return address of a goroutine that C has called back.
    func isSwitch(_ address: UInt64) -> Bool { switches.contains(address) }

    /// True if an address is in the function that calls C functions for goroutines.
    func callsC(from address: UInt64) -> Bool { callers.contains { $0.contains(address) } }
}

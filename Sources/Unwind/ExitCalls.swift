import Architecture
import ELF

/// Finds calls that pass a function's result directly to exit(3) or pthread_exit(3). The function
/// that makes such a call is a thread's entry function, which nothing calls. musl's entry
/// functions, which call `main` and threads' functions, have neither tables nor frame records. A
/// program's own function may do the same, and yet have callers. So only the C library counts,
/// which contains exit and pthread_exit itself.
struct ExitCalls {
    private static let names: [StaticString] = ["exit", "pthread_exit"]
    /// musl's entry functions, in a static program.
    private static let callers: [StaticString] = [
        "__libc_start_main", "libc_start_main_stage2", "start", "start_c11",
    ]
    private let exported: Set<UInt64>
    private let own: Set<UInt64>
    private let entries: [Range<UInt64>]

    init(_ file: ELFFile) {
        var (exported, own): (Set<UInt64>, Set<UInt64>) = ([], [])
        var entries: [Range<UInt64>] = []
        file.forEachFunction(isDynamic: true) { name, range in
            if Self.isAmong(Self.names, name) { exported.insert(range.lowerBound) }
        }
        file.forEachFunction { name, range in
            if Self.isAmong(Self.names, name) { own.insert(range.lowerBound) }
            if Self.isAmong(Self.callers, name) { entries.append(range) }
        }
        self.exported = exported.subtracting([0])
        self.own = own.subtracting([0])
        self.entries = entries
    }

    private static func isAmong(_ names: [StaticString], _ symbol: UnsafeRawBufferPointer) -> Bool {
        names.contains { symbol.isText($0) }
    }

    /// - Parameters:
    ///   - address: the address to which the called function returns.
    ///   - read: gives a number of bytes of code; nil: there are fewer.
    static func target(
        behind address: UInt64, _ read: (_ address: UInt64, _ count: Int) -> [UInt8]?
    ) -> UInt64? {
        HandoverPattern.target(at: address) { read(address, $0) }
    }

    /// True if a call from the address to the target ends the thread.
    func contains(_ target: UInt64, from address: UInt64) -> Bool {
        exported.contains(target)
            || own.contains(target) && entries.contains { $0.contains(address) }
    }
}

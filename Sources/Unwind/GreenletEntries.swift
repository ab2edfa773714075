import CElfutils
import ELF

/// The functions at which a greenlet's part of a stack begins.
///
/// Greenlets (gevent, eventlet, SQLAlchemy's asyncio, Playwright) share their thread's stack: while
/// a greenlet does not run, its part is copied away, and another greenlet's part takes the place.
/// So the memory behind the function that started a greenlet does not belong to its caller: the
/// greenlet that started it may be over, or elsewhere.
struct GreenletEntries {
    private static let names: [StaticString] = [
        "g_initialstub", "_ZN8greenlet12UserGreenlet13g_initialstubEPv",
        "_ZN8greenlet8Greenlet13g_initialstubEPv",
    ]
    /// The function by which Python finds the module.
    private static let module: StaticString = "PyInit__greenlet"

    private let ranges: [Range<UInt64>]

    /// Empty if the file is not greenlet's.
    init(_ file: ELFFile) {
        guard Self.isExpected(in: file) else {
            ranges = []
            return
        }
        var found: [Range<UInt64>] = []
        for isDynamic in [true, false] where found.isEmpty {
            file.forEachFunction(isDynamic: isDynamic) { name, range in
                if !range.isEmpty, Self.isStart(name) { found.append(range) }
            }
        }
        ranges = found
    }

    /// Reads the dynamic names as one text: searching them takes a fraction of the time that their
    /// symbols take.
    private static func isExpected(in file: ELFFile) -> Bool {
        guard let names = file.contents(ofSection: ".dynstr")?.bytes, let start = names.baseAddress
        else { return false }
        return memmem(start, names.count, module.utf8Start, module.utf8CodeUnitCount) != nil
    }

    /// A compiler's variants of a function (`.constprop.0`) count as the function.
    private static func isStart(_ symbol: UnsafeRawBufferPointer) -> Bool {
        let end = symbol.firstIndex(of: UInt8(ascii: ".")) ?? symbol.count
        let name = UnsafeRawBufferPointer(rebasing: symbol[..<end])
        return names.contains { name.isText($0) }
    }

    func contains(_ address: UInt64) -> Bool { ranges.contains { $0.contains(address) } }
}

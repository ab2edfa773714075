import ProfileModel
import System

/// The functions of a kernel as `/proc/kallsyms` lists them: `ADDRESS TYPE NAME`, followed by a tab
/// and `[MODULE]` for a function of a loadable module. Copies of the list are read alike.
///
/// A function extends to the next function of the same module: sizes are not listed.
package struct KernelSymbols: Sendable {
    /// The list as it was read.
    package let text: [UInt8]

    /// A larger list is not read; a usual one has 6 MB.
    private static let largest = 64 << 20

    /// nil: there is no such file, or it is too large.
    package init?(path: String) {
        guard let text = try? WholeFile.bytes(of: path, limit: Self.largest) else { return nil }
        self.init(text)
    }

    package init(_ text: [UInt8]) { self.text = text }

    /// The address of `_text`, or of `_stext` if that is missing; nil: not listed, or hidden
    /// (`kernel.kptr_restrict`).
    package var start: UInt64? {
        var (first, second): (UInt64?, UInt64?)
        KernelLines(text).forEach { line in
            if line.isBorder("_text") { first = line.address }
            if line.isBorder("_stext") { second = line.address }
        }
        return first ?? second
    }

    /// Reads only the list's beginning, where the kernel's code begins.
    static func start(path: String) -> UInt64? {
        (try? WholeFile.beginning(of: path, count: 64 << 10)).flatMap { KernelSymbols($0).start }
    }

    /// - Parameters:
    ///   - addresses: of memory, ascending.
    ///   - module: a loadable module's name; nil: the kernel's own code.
    /// - Returns: the names for the addresses that a function covers.
    package func names(
        at addresses: [UInt64], of module: Substring? = nil
    ) -> [UInt64: String] {
        guard !addresses.isEmpty else { return [:] }
        let module = module.map { Array($0.utf8) }
        var best = [Candidate?](repeating: nil, count: addresses.count)
        // Behind the last byte of the kernel's own code; nil: not listed.
        var end: UInt64?
        KernelLines(text).forEach { line in
            if line.isBorder("_etext") { end = line.address }
            guard line.isCode, line.isOf(module) else { return }
            let index = addresses.partitionIndex { $0 >= line.address }
            guard index < addresses.count else { return }
            let candidate = Candidate(line)
            if best[index].map({ candidate.isBetter(than: $0) }) ?? true { best[index] = candidate }
        }
        var result: [UInt64: String] = [:]
        var last: Candidate?
        for (index, address) in addresses.enumerated() {
            // A function that begins before an address covers the next addresses, too, if no other
            // is nearer.
            last = best[index] ?? last
            guard let last, module != nil || end.map({ address < $0 }) ?? true else { continue }
            result[address] = String(decoding: last.name, as: UTF8.self)
        }
        return result
    }
}

/// One of several names that could be shown for an address. Of the nearest functions, one that is
/// visible outside its file comes before one that is not, and a weak one comes last; then the name
/// with fewer leading underscores, the longer and the alphabetically first name. perf chooses
/// alike.
private struct Candidate {
    let address: UInt64
    let name: ArraySlice<UInt8>
    private let rank: Int
    private let underscores: Int

    init(_ line: KernelLines.Line) {
        address = line.address
        name = line.name
        rank =
            switch line.type {
            case UInt8(ascii: "T"): 0
            case UInt8(ascii: "t"): 1
            default: 2
            }
        underscores = line.name.prefix { $0 == UInt8(ascii: "_") }.count
    }

    func isBetter(than other: Candidate) -> Bool {
        if address != other.address { return address > other.address }
        if rank != other.rank { return rank < other.rank }
        if underscores != other.underscores { return underscores < other.underscores }
        if name.count != other.name.count { return name.count > other.name.count }
        return name.lexicographicallyPrecedes(other.name)
    }
}

import ELF
import Glibc
package import ProfileModel
import System

/// The code of the running kernel: where it is, and how it is distinguished from another kernel's.
package struct RunningKernel: Sendable {
    /// From `/sys/kernel/notes`; empty: not known.
    package let buildID: [UInt8]
    /// Where its own code begins: its symbol `_text`.
    private let start: UInt64
    /// In the order of their addresses.
    private let modules: [LoadedModule]

    private struct LoadedModule {
        var name: String
        var range: Range<UInt64>
        var buildID: [UInt8]
    }

    private static let noteLimit = 64 << 10
    private static let listLimit = 4 << 20

    /// nil: the kernel hides its addresses (`kernel.kptr_restrict`).
    ///
    /// - Parameter root: the folder of `/proc` and `/sys`.
    package init?(root: String = "") {
        guard let start = KernelSymbols.start(path: root + "/proc/kallsyms") else { return nil }
        self.start = start
        buildID = Self.buildID(inNotes: root + "/sys/kernel/notes")
        modules = Self.loadedModules(root)
    }

    /// The code, ascending and disjoint. Addresses count from the start of each piece.
    package var code: [CodeMapping] {
        var pieces = modules.map { Self.mapping($0) }
        let end = modules.first { $0.range.lowerBound > start }?.range.lowerBound ?? .max
        pieces.append(
            CodeMapping(
                start: start, end: end, fileOffset: 0, path: Module.kernelPath, inode: 0,
                buildID: buildID))
        return pieces.sorted { $0.start < $1.start }
    }

    private static func mapping(_ module: LoadedModule) -> CodeMapping {
        CodeMapping(
            start: module.range.lowerBound, end: module.range.upperBound, fileOffset: 0,
            path: Module.kernelPath(ofModule: module.name), inode: 0, buildID: module.buildID)
    }

    /// Where the kernel and its modules are. The same kernel has another layout after a boot, and
    /// after it has loaded other modules. Only for comparing.
    package var layout: [UInt8] {
        let modules = modules.map { "\($0.name) \($0.range.lowerBound) \($0.buildID.hex)" }
        return Array((["\(start)"] + modules).joined(separator: "\n").utf8)
    }

    /// The origin of a recorded module's addresses, if the module is loaded now: it has the same
    /// build id.
    package func start(of module: Module) -> UInt64? {
        guard !module.buildID.isEmpty else { return nil }
        if module.path == Module.kernelPath { return module.buildID == buildID ? start : nil }
        return modules.first {
            $0.buildID == module.buildID && module.kernelModuleName == Substring($0.name)
        }?.range.lowerBound
    }

    // MARK: Reading

    /// `NAME SIZE USES NEEDED-BY STATE ADDRESS`, the address hidden as 0.
    private static func loadedModules(_ root: String) -> [LoadedModule] {
        guard let text = try? WholeFile.bytes(of: root + "/proc/modules", limit: listLimit) else {
            return []
        }
        var found: [LoadedModule] = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "))
                .map { String(decoding: $0, as: UTF8.self) }
            guard words.count >= 6, let size = UInt64(words[1]), words[5].hasPrefix("0x"),
                let start = UInt64(words[5].dropFirst(2), radix: 16), start > 0,
                !words[0].contains("/")
            else { continue }
            let (end, overflows) = start.addingReportingOverflow(size)
            guard !overflows, end > start else { continue }
            let notes = "\(root)/sys/module/\(words[0])/notes/.note.gnu.build-id"
            found.append(
                LoadedModule(
                    name: words[0], range: start..<end, buildID: buildID(inNotes: notes)))
        }
        return disjoint(found.sorted { $0.range.lowerBound < $1.range.lowerBound })
    }

    /// A module's size is that of all its parts, which need not lie side by side.
    private static func disjoint(_ sorted: [LoadedModule]) -> [LoadedModule] {
        var result = sorted
        for index in result.indices.dropLast() {
            let range = result[index].range
            let next = sorted[index + 1].range.lowerBound
            result[index].range = range.lowerBound..<min(range.upperBound, next)
        }
        return result.filter { !$0.range.isEmpty }
    }

    private static func buildID(inNotes path: String) -> [UInt8] {
        (try? WholeFile.bytes(of: path, limit: noteLimit)).map {
            ELFNotes.buildID(in: $0[...])
        } ?? []
    }
}

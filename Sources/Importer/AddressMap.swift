import PerfData
import ProfileModel

/// Where the code of one process is, as its mappings replace each other.
struct AddressMap {
    /// Ascending and disjoint.
    private(set) var code: [CodeMapping] = []
    /// Counts the changes.
    private(set) var version = 0
    /// The first file that was mapped as code since the last `exec`: the program.
    private(set) var program: String?

    /// No program has more mappings: the rest is ignored.
    private static let most = 100_000

    mutating func clear() {
        code = []
        program = nil
        version += 1
    }

    /// Adds a mapping, replacing earlier ones at its addresses.
    mutating func add(_ mapping: PerfMapping, buildID: [UInt8]) {
        guard mapping.start < mapping.end else { return }
        let first = code.partitionIndex { $0.end > mapping.start }
        let last = code.partitionIndex { $0.start >= mapping.end }
        guard mapping.isExecutable || first < last else { return }
        var new: [CodeMapping] = []
        if first < last {
            let (lower, upper) = (code[first], code[last - 1])
            if lower.start < mapping.start {
                new.append(lower.cut(to: lower.start..<mapping.start))
            }
            if mapping.isExecutable { new.append(Self.code(mapping, buildID)) }
            if upper.end > mapping.end { new.append(upper.cut(to: mapping.end..<upper.end)) }
        } else {
            new = [Self.code(mapping, buildID)]
        }
        guard code.count + new.count <= Self.most else { return }
        code.replaceSubrange(first..<max(first, last), with: new)
        version += 1
        if mapping.isExecutable, program == nil, mapping.path.hasPrefix("/"),
            !Module(path: mapping.path).isDynamicLinker
        {
            program = mapping.path
        }
    }

    private static func code(_ mapping: PerfMapping, _ buildID: [UInt8]) -> CodeMapping {
        // Everything except files and the kernel's own code was generated at run time.
        let isFile = mapping.path.hasPrefix("/") && !mapping.path.hasPrefix("//")
        return CodeMapping(
            start: mapping.start, end: mapping.end, fileOffset: mapping.fileOffset,
            path: isFile || mapping.isKernel || mapping.path == "[vdso]" ? mapping.path : "",
            inode: mapping.inode, buildID: buildID)
    }
}

extension Module {
    fileprivate var isDynamicLinker: Bool { name.hasPrefix("ld-") || name.hasPrefix("ld.so") }
}

extension CodeMapping {
    fileprivate func cut(to range: Range<UInt64>) -> CodeMapping {
        var result = self
        result.fileOffset = fileOffset &+ (range.lowerBound &- start)
        (result.start, result.end) = (range.lowerBound, range.upperBound)
        return result
    }
}

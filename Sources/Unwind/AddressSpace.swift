import Architecture
import ELF
import ProfileModel

/// Which module is mapped where in the profiled process now, and each module's unwind tables.
struct AddressSpace {
    struct Range {
        var start: UInt64
        var end: UInt64
        var bias: UInt64
        /// nil for code without a file (JIT).
        var module: ModuleIndex?
        var tables: FrameTables?
        /// True if it is memory without a name.
        var isNameless = false

        /// The module's index as walks write it, or -1.
        var moduleNumber: Int32 { module.flatMap { Int32(exactly: $0.rawValue) } ?? -1 }
    }

    private struct Identity: Hashable {
        var start: UInt64
        var end: UInt64
        var bias: UInt64
        var module: ModuleIndex?

        init(_ range: Range) {
            (start, end, bias, module) = (range.start, range.end, range.bias, range.module)
        }
    }

    private struct FileKey: Hashable {
        var path: String
        var inode: UInt64
    }

    /// Ascending and disjoint.
    private(set) var ranges: [Range] = []
    /// The kernel's code, kept apart from the code that walks go through. Ascending and disjoint.
    private var kernel: [Range] = []
    private let files: MappedFiles
    /// CPython's trampoline, if the interpreter and nameless code are mapped.
    private(set) var trampoline: PythonTrampoline?
    /// Our own code: walks go through it, but show no frames for it.
    private var ownCode: [Swift.Range<UInt64>] = []
    /// The modules of the files that this process has mapped.
    private var indices: [FileKey: ModuleIndex] = [:]

    /// The files' code in the last list, including moved code.
    private var mapped: [CodeMapping] = []

    private let process: Int?

    /// - Parameter process: the process's number if there are several; nil: the only one, or the
    ///   first.
    init(_ files: MappedFiles = MappedFiles(), process: Int? = nil) {
        self.files = files
        self.process = process
    }

    /// The address to which the kernel makes a probed function return (uretprobe).
    private var uretprobe: UInt64?

    /// The recognised parts of memory that holds files' code, kept as long as it is mapped: the
    /// recorder cannot read the memory of a process that has ended.
    private var recognised: [CodeMapping: [CodeMapping]] = [:]

    var modules: [Module] { files.modules }

    func isUretprobe(_ address: UInt64) -> Bool { address == uretprobe }

    /// Where a frame's code is mapped; nil: in no module.
    func range(of frame: WalkFrame) -> Range? {
        guard frame.module >= 0 else { return nil }
        return ranges.first {
            $0.moduleNumber == frame.module
                && $0.start..<$0.end ~= frame.lookup &+ $0.bias
        }
    }

    var hasOwnCode: Bool { !ownCode.isEmpty }

    func isOwnCode(_ address: UInt64) -> Bool { ownCode.contains { $0.contains(address) } }

    /// Takes the process's new list of code mappings.
    ///
    /// - Parameters:
    ///   - openAlternative: gives other paths to a file that is no longer where its mapping says.
    ///   - memory: bytes of the process's memory; nil: they cannot be read.
    /// - Returns: the new mappings, and whether all earlier ones are still there.
    mutating func update(
        _ code: [CodeMapping], at time: MonotonicTime,
        openAlternative: (CodeMapping) -> [String] = { _ in [] },
        memory: (UInt64, Int) -> [UInt8]? = { _, _ in nil }
    ) -> (added: [Mapping], keepsOthers: Bool) {
        let known = Set(ranges.map(Identity.init))
        var added = updateKernel(code.filter(\.isKernel), at: time)
        let code = withMovedCode(code, openAlternative, memory)
        ranges = []
        ownCode = []
        // The kernel's code is at the beginning of the page that it maps for probes.
        uretprobe = code.first { $0.path == "[uprobes]" }?.start
        for mapping in code where !mapping.isKernel {
            guard mapping.end > mapping.start, mapping.start >= ranges.last?.end ?? 0 else {
                continue
            }
            if mapping.path == CodeMapping.ownPath {
                ownCode.append(mapping.start..<mapping.end)
                ranges.append(
                    Range(start: mapping.start, end: mapping.end, bias: 0, module: nil, tables: nil)
                )
                continue
            }
            let range = range(of: mapping, openAlternative)
            ranges.append(range)
            if let module = range.module, !known.contains(Identity(range)) {
                added.append(
                    Mapping(
                        start: range.start, end: range.end, bias: range.bias, module: module,
                        time: time))
            }
        }
        if trampoline == nil, ranges.contains(where: \.isNameless) {
            trampoline = ranges.lazy.compactMap { $0.tables?.trampoline }.first
        }
        return (added, known.isSubset(of: ranges.map(Identity.init)))
    }

    private mutating func range(
        of mapping: CodeMapping, _ openAlternative: (CodeMapping) -> [String]
    ) -> Range {
        let module =
            mapping.isNameless && process == nil
            ? nil : index(of: mapping, openAlternative: openAlternative)
        let file = module.flatMap { files.headers(of: $0) }
        // If the file cannot be read, its headers are unknown: then offsets serve as addresses.
        let bias =
            file?.bias(mappedAt: mapping.start, fileOffset: mapping.fileOffset)
            ?? (mapping.isNameless ? 0 : mapping.start &- mapping.fileOffset)
        return Range(
            start: mapping.start, end: mapping.end, bias: bias, module: module,
            tables: module.flatMap { files.tables(of: $0) }, isNameless: mapping.isNameless)
    }

    /// Some programs move their code onto large pages: memory at the same addresses, with the same
    /// bytes. It is still the file's code.
    private mutating func withMovedCode(
        _ code: [CodeMapping], _ openAlternative: (CodeMapping) -> [String],
        _ memory: (UInt64, Int) -> [UInt8]?
    ) -> [CodeMapping] {
        func isFile(_ mapping: CodeMapping) -> Bool { !mapping.isMemory && !mapping.isKernel }
        var result = code
        if code.contains(where: \.isMemory) {
            var homes = MovedCode()
            // If all of a file's code is gone from the list, only the list before shows it.
            for mapping in code.filter(isFile) + mapped {
                let module = index(of: mapping, openAlternative: openAlternative)
                homes.add(mapping, files.file(of: module))
            }
            let before = recognised
            recognised = [:]
            for mapping in code where mapping.isMemory {
                let parts = before[mapping] ?? homes.parts(of: mapping, memory)
                if parts != [mapping] { recognised[mapping] = parts }
            }
            result = code.flatMap { recognised[$0] ?? [$0] }
        }
        mapped = result.filter(isFile)
        return result
    }

    private mutating func updateKernel(
        _ code: [CodeMapping], at time: MonotonicTime
    ) -> [Mapping] {
        let known = Set(kernel.map(Identity.init))
        kernel = []
        var added: [Mapping] = []
        for mapping in code {
            guard mapping.end > mapping.start, mapping.start >= kernel.last?.end ?? 0 else {
                continue
            }
            let module = index(of: mapping) { _ in [] }
            let range = Range(
                start: mapping.start, end: mapping.end,
                bias: mapping.start &- mapping.fileOffset, module: module, tables: nil)
            kernel.append(range)
            guard !known.contains(Identity(range)) else { continue }
            added.append(
                Mapping(
                    start: range.start, end: range.end, bias: range.bias, module: module,
                    time: time))
        }
        return added
    }

    /// All present mappings.
    func mappings(at time: MonotonicTime) -> [Mapping] {
        (ranges + kernel).compactMap { range in
            range.module.map { module in
                Mapping(
                    start: range.start, end: range.end, bias: range.bias, module: module,
                    time: time)
            }
        }
    }

    /// A frame in the kernel's code; without a module if that is unknown.
    func kernelFrame(_ address: CodeAddress) -> FrameAddress {
        let index = Self.position(of: address.lookup, in: kernel)
        guard let index else { return FrameAddress(module: nil, address: address) }
        return FrameAddress(
            module: kernel[index].module,
            address: CodeAddress(address.value &- kernel[index].bias, address.kind))
    }

    private mutating func index(
        of mapping: CodeMapping, openAlternative: (CodeMapping) -> [String]
    ) -> ModuleIndex {
        let key = FileKey(path: mapping.path, inode: mapping.inode)
        if let known = indices[key] { return known }
        let index = files.index(of: mapping, in: process, openAlternative)
        indices[key] = index
        return index
    }

    /// True if the mapped file could be read.
    func isReadable(_ module: ModuleIndex) -> Bool { files.file(of: module) != nil }

    /// The position in `ranges` of the range that holds an address.
    func rangeIndex(around address: UInt64) -> Int? { Self.position(of: address, in: ranges) }

    @inline(__always)
    private static func position(of address: UInt64, in ranges: [Range]) -> Int? {
        let index = ranges.partitionIndex { $0.end > address }
        return index < ranges.count && ranges[index].start <= address ? index : nil
    }

    /// The file from which a module was mapped; nil: unreadable.
    func file(of module: ModuleIndex) -> ELFFile? { files.file(of: module) }

    func isCode(_ address: UInt64) -> Bool { rangeIndex(around: address) != nil }
}

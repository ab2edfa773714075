import Architecture

/// The facts known about a launch that should be cold.
package struct ColdEvidence: Hashable, Sendable {
    /// How much of its files was in the page cache when it began; the first file is the program.
    package var before: CacheState
    /// How much of them stayed in the cache after their removal, before the first launch.
    package var unavoidable: CacheState
    /// How much the launch and its children read from block devices; nil: unknown.
    package var readBytes: Int64?
    /// The median of the bytes that earlier cold launches of the program read in this measurement;
    /// nil: there was none yet.
    package var usualReadBytes: Int64?

    package init(
        before: CacheState, unavoidable: CacheState, readBytes: Int64?, usualReadBytes: Int64? = nil
    ) {
        self.before = before
        self.unavoidable = unavoidable
        self.readBytes = readBytes
        self.usualReadBytes = usualReadBytes
    }
}

/// Tells whether a launch was cold; reasons are texts for the user.
package enum ColdVerdict: Hashable, Sendable {
    case cold
    /// It was not cold: it found in the cache data that it should have read.
    case warm(String)
    /// It may have been cold, but this cannot be shown.
    case unproven(String)
}

extension ColdEvidence {
    package var isProvenCold: Bool { verdict == .cold }

    /// A launch is cold if the cache held nothing of its files except pages that other processes
    /// have mapped, and if it then read from a device as much as such a launch must read:
    ///
    /// - at least one page of half of the files that were not cached, because each is opened for
    ///   some reason,
    /// - and three quarters of the bytes that such launches usually read.
    ///
    /// Neither condition is enough alone: the launch may use further files, which are cached; and
    /// most warm launches read some bytes, too.
    package var verdict: ColdVerdict {
        if let doubt { return .unproven(doubt) }
        if let reason = stateReason ?? readReason { return .warm(reason) }
        return .cold
    }

    // MARK: Unknown facts

    /// Applies if a tenth of all bytes is unprovable, or the program itself.
    private var doubt: String? {
        guard let readBytes, readBytes >= 0 else { return "what it read is not known" }
        guard let program = before.files.first else { return "its files are not known" }
        let others = before.unprovable
        if let problem = program.problem { return "\(program.path): \(problem)" }
        guard program.kind.isProvable else { return Self.words(of: program) }
        let bytes = others.reduce(Int64(0)) { $0 + $1.size }
        guard bytes * 10 >= before.fileBytes + bytes, let first = others.first else { return nil }
        return Self.words(of: first)
    }

    private static func words(of file: FileCacheState) -> String {
        file.problem.map { "\(file.path): \($0)" }
            ?? "\(file.path) is on a \(file.kind.words), where what is read is not counted"
    }

    // MARK: Before the launch

    private var stateReason: String? {
        guard let program = before.files.first else { return nil }
        if program.size > 0, program.cached * 10 > program.size {
            return "\(program.path) was cached when it began: another process uses it"
        }
        let kept = Dictionary(
            unavoidable.files.map { ($0.path, $0.cached) }, uniquingKeysWith: { first, _ in first })
        var excess: Int64 = 0
        var worst: (file: FileCacheState, bytes: Int64)?
        for file in before.provable {
            let bytes = max(0, file.cached - (kept[file.path] ?? 0))
            excess += bytes
            if bytes > worst?.bytes ?? 0 { worst = (file, bytes) }
        }
        guard let worst, excess * 20 > evictableBytes else { return nil }
        return "\(Self.amount(excess)) of its files were cached when it began, most of "
            + "\(worst.file.path): something reads them between the launches"
    }

    /// How many bytes can leave the cache at all.
    private var evictableBytes: Int64 {
        max(0, unavoidable.fileBytes - unavoidable.estimatedBytes)
    }

    // MARK: The launch's reads

    private var readReason: String? {
        guard let readBytes else { return nil }
        if readBytes == 0 { return "nothing was read from a device" }
        let least =
            before.provable.filter { $0.size > 0 && 2 * $0.cached < $0.size }
            .reduce(Int64(0)) { $0 + min($1.size, Int64(VirtualMemory.pageSize)) } / 2
        if least == 0 { return "all its files stay in the cache: other processes use them" }
        if readBytes < least {
            return "it read \(Self.amount(readBytes)), less than the beginnings of its files"
        }
        if let usualReadBytes, readBytes / 3 * 4 < usualReadBytes {
            return "it read \(Self.amount(readBytes)), where others read "
                + Self.amount(usualReadBytes)
        }
        return nil
    }

    static func amount(_ bytes: Int64) -> String {
        if bytes < 1 << 20 { return "\((bytes + 512) / 1024) KiB" }
        let tenths = (bytes * 10 + 1 << 19) >> 20
        return "\(tenths / 10).\(tenths % 10) MiB"
    }
}

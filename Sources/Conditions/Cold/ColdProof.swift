/// What is known of a launch that should have been cold.
package struct ColdEvidence: Hashable, Sendable {
    /// What the page cache had of its files when it began; the first file is the program.
    package var before: CacheState
    /// What it had of them when all that could leave had left, before the first launch.
    package var unavoidable: CacheState
    /// What the launch read from block devices, its children included; nil: not known.
    package var readBytes: Int64?
    /// The median of what launches of the same program have read in this measurement after their
    /// files had left the cache; nil: there was none yet.
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

/// Whether a launch was cold; reasons are in words, for a reader.
package enum ColdVerdict: Hashable, Sendable {
    case cold
    /// It was not: it found in the cache what it should have read.
    case warm(String)
    /// It may have been, and nothing can show it.
    case unproven(String)
}

extension ColdEvidence {
    package var isProvenCold: Bool { verdict == .cold }

    /// A launch is cold if the cache had nothing of its files but what others have mapped, and if it
    /// then read from a device what such a launch must read:
    ///
    /// - at least one page of half of the files that were not cached: each is opened for something,
    /// - and three quarters of what such launches usually read.
    ///
    /// Neither alone suffices. Files that are not cached may not be all that the launch uses; and some
    /// bytes are read by most warm launches, too.
    package var verdict: ColdVerdict {
        if let doubt { return .unproven(doubt) }
        if let reason = stateReason ?? readReason { return .warm(reason) }
        return .cold
    }

    // MARK: What cannot be known

    /// Files of a tenth of all bytes, or the program itself.
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

    /// What can leave the cache at all, in bytes.
    private var evictableBytes: Int64 {
        max(0, unavoidable.fileBytes - unavoidable.estimatedBytes)
    }

    // MARK: What it read

    private var readReason: String? {
        guard let readBytes else { return nil }
        if readBytes == 0 { return "nothing was read from a device" }
        let least =
            before.provable.filter { $0.size > 0 && 2 * $0.cached < $0.size }
            .reduce(Int64(0)) { $0 + min($1.size, 4096) } / 2
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

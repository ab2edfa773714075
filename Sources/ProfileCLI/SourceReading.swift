import Analysis
import Glibc
import Report

/// Lines of the source files that a profile's frames name, as far as they are readable here.
///
/// Files that were changed after the recording are left out: their lines are others now.
struct SourceReading {
    private let profile: Profile
    private let recordedAt: Int

    /// Around each line that occurs; files and bytes in all. Debug information may name any path.
    private static let context: Int32 = 4
    private static let (mostFiles, mostBytes, largestFile) = (400, 512 << 10, 4 << 20)
    private static let longestLine = 400

    /// `recording` is the profile's file.
    init(_ profile: Profile, recording: String) {
        self.profile = profile
        var status = stat()
        recordedAt = stat(recording, &status) == 0 ? status.st_mtim.tv_sec : 0
    }

    func lines() -> SourceLines {
        var result = SourceLines()
        var room = Self.mostBytes
        for (file, lines) in wanted().prefix(Self.mostFiles) {
            guard room > 0, let text = read(file) else { continue }
            var found: [Int32: String] = [:]
            var number: Int32 = 0
            for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            {
                number += 1
                guard lines.contains(number), room > 0 else { continue }
                let line = line.prefix(Self.longestLine)
                room -= line.count
                found[number] = String(decoding: line, as: UTF8.self)
            }
            if !found.isEmpty { result.files[file] = found }
        }
        return result
    }

    /// The files that occur in stacks, the developer's own first, with the lines that are to be
    /// seen.
    private func wanted() -> [(String, Set<Int32>)] {
        var files: [String: (isOwn: Bool, lines: Set<Int32>)] = [:]
        for frame in profile.frames.frames {
            guard let file = frame.file, file.hasPrefix("/"), let line = frame.line, line > 0,
                line < Int32.max - Self.context
            else { continue }
            let isOwn = profile.frames[frame.function].isOwn
            let around = max(1, line - Self.context)...line + Self.context
            files[file, default: (false, [])].lines.formUnion(around)
            if isOwn { files[file]?.isOwn = true }
        }
        return files.sorted { ($1.value.isOwn ? 1 : 0, $0.key) < ($0.value.isOwn ? 1 : 0, $1.key) }
            .map { ($0.key, $0.value.lines) }
    }

    private func read(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size <= Self.largestFile, status.st_mtim.tv_sec <= recordedAt
        else { return nil }
        let size = Int(status.st_size)
        // Unsafe code: read(2) fills the array's memory.
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                let got = Glibc.read(file, buffer.baseAddress?.advanced(by: count), size - count)
                guard got > 0 else { break }
                count += got
            }
        }
    }
}

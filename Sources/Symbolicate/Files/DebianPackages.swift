internal import CElfutils
internal import ELF
internal import Glibc
package import ProfileModel
internal import System

/// Finds the Debian packages that files belong to, from dpkg's lists of installed files.
package struct DebianPackages {
    /// dpkg's folder: one `PACKAGE.list` or `PACKAGE:ARCHITECTURE.list` for each package.
    private let folder: String

    /// No package's list is larger: 8 MiB are 100,000 files.
    private static let largestList = 8 << 20
    /// A desktop's lists are 50 MiB in all.
    private static let mostBytes = 256 << 20
    /// Each module requires another search through all lists.
    private static let mostModules = 16

    package init(folder: String = "/var/lib/dpkg/info") {
        self.folder = folder
    }

    /// The packages of modules, by the modules' paths. A file counts only if its build id is the
    /// recorded one, because the recording may be from another machine. Modules after the first 16
    /// are left out.
    package func owners(of modules: [Module]) -> [String: String] {
        let present = modules.filter(isPresent).prefix(Self.mostModules)
        var wanted = present.map { (path: $0.path, lines: Self.lines(for: $0.path)) }
        var result: [String: String] = [:]
        var bytesLeft = Self.mostBytes
        for name in lists() where !wanted.isEmpty && bytesLeft > 0 {
            let limit = min(Self.largestList, bytesLeft)
            guard let list = try? WholeFile.bytes(ofRegular: "\(folder)/\(name)", limit: limit)
            else { continue }
            bytesLeft -= list.count
            wanted.removeAll { module in
                guard module.lines.contains(where: { Self.contains(list, $0) }) else {
                    return false
                }
                result[module.path] = Self.package(ofList: name)
                return true
            }
        }
        return result
    }

    private func isPresent(_ module: Module) -> Bool {
        !module.buildID.isEmpty && (try? ELFFile(path: module.path))?.buildID == module.buildID
    }

    /// Sorted, so that the same lists give the same answers.
    private func lists() -> [String] {
        guard let handle = opendir(folder) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".list") { names.append(name) }
        }
        return names.sorted()
    }

    /// The path as lists may have it: packages from before the merger of `/usr` install into
    /// `/lib`.
    private static func lines(for path: String) -> [[UInt8]] {
        let paths = path.hasPrefix("/usr/") ? [path, String(path.dropFirst(4))] : [path]
        return paths.map { Array("\n\($0)\n".utf8) }
    }

    private static func contains(_ list: [UInt8], _ line: [UInt8]) -> Bool {
        list.withUnsafeBytes { bytes in
            // Some C libraries' headers take no NULL here.
            guard let start = bytes.baseAddress else { return false }
            return memmem(start, bytes.count, line, line.count) != nil
        }
    }

    private static func package(ofList name: String) -> String {
        let stem = name.dropLast(".list".count)
        return String(stem.prefix { $0 != ":" })
    }
}

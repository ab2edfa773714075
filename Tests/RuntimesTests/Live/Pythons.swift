import Glibc
import TestSupport

/// The interpreters of this machine: the system's, pyenv's, and those of the variable `PYTHONS`, paths
/// with colons between them.
enum Pythons {
    static let all: [String] = {
        var (found, seen) = ([String](), Set<String>())
        for path in candidates where access(path, X_OK) == 0 {
            let file = realpath(path, nil).map { pointer in
                defer { free(pointer) }
                return String(cString: pointer)
            }
            if seen.insert(file ?? path).inserted { found.append(path) }
        }
        return found
    }()

    /// Continuous integration has the system's, at least.
    static let areThere = !all.isEmpty || isContinuousIntegration

    private static var candidates: [String] {
        let folders = variable("PATH").filter { !$0.hasSuffix("/shims") }
        return variable("PYTHONS") + ["/usr/bin/python3"] + folders.map { $0 + "/python3" }
            + ofPyenv
    }

    private static var ofPyenv: [String] {
        let root = variable("PYENV_ROOT").first ?? (variable("HOME").first ?? "") + "/.pyenv"
        guard let directory = opendir(root + "/versions") else { return [] }
        defer { closedir(directory) }
        var paths: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.first != "." { paths.append("\(root)/versions/\(name)/bin/python3") }
        }
        return paths.sorted()
    }

    private static func variable(_ name: String) -> [String] {
        getenv(name).map { String(cString: $0).split(separator: ":").map(String.init) } ?? []
    }
}

import ELF
import System

/// The files that the kernel itself opens to execute a program. No system call shows them.
package enum FirstFiles {
    /// The program's file, its interpreter if it is a script, and their dynamic linkers. Paths are
    /// relative to the current directory.
    package static func of(program path: String) -> [String] {
        var found: [String] = []
        var next: String? = path
        // Scripts may be interpreted by scripts; the kernel follows four.
        while let path = next, found.count < 6, let real = FileText.real(path) {
            found.append(real)
            next = interpreter(of: real)
        }
        return found
    }

    /// The program that interprets a file; nil: none.
    private static func interpreter(of path: String) -> String? {
        let start = (try? WholeFile.beginning(of: path, count: 4096)) ?? []
        return scriptInterpreter(in: start)
            ?? (try? ELFFile(path: path, access: .read))?.interpreter
    }

    /// The program that a script's first line names; nil: none.
    package static func scriptInterpreter(in bytes: [UInt8]) -> String? {
        guard bytes.starts(with: "#!".utf8) else { return nil }
        let line = bytes.dropFirst(2).prefix { $0 != 10 }
        let word = line.drop { $0 == 32 || $0 == 9 }.prefix { $0 != 32 && $0 != 9 }
        return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
    }
}

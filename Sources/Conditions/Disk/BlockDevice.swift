import CSystem
import Glibc

/// A disk, as control groups name it.
struct BlockDevice: Hashable {
    /// "254:0".
    var number: String
    /// "vda".
    var name: String

    /// All that hold something, but for memory that poses as a disk. A program's files may be on any of
    /// them: a file system over several, or over another one (overlay, Btrfs), does not say on which.
    static func all(in folder: String = "/sys/block") -> [BlockDevice] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var found: [BlockDevice] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard !name.hasPrefix("."), !name.hasPrefix("zram"), !name.hasPrefix("ram"),
                let size = FileText.text(of: "\(folder)/\(name)/size").flatMap(Self.number),
                size > 0, let number = FileText.text(of: "\(folder)/\(name)/dev")
            else { continue }
            found.append(BlockDevice(number: String(number.prefix { $0 != "\n" }), name: name))
        }
        return found.sorted { $0.name < $1.name }
    }

    private static func number(_ text: String) -> Int64? { Int64(text.prefix { $0 != "\n" }) }
}

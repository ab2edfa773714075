import CSystem
import Glibc

/// A disk, with its name in control groups.
struct BlockDevice: Hashable {
    /// "254:0".
    var number: String
    /// "vda".
    var name: String

    /// All disks with content, except memory that looks like a disk. A program's files may be on
    /// any of them: a file system over several disks, or over another file system (overlay, Btrfs),
    /// does not reveal the disk.
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

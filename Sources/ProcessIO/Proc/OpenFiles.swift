import CSystem
import Glibc
import System

/// The files that a process's descriptors lead to.
struct OpenFiles {
    let pid: Int32

    private static let longestPath = 4096

    func link(of descriptor: Int32) -> String? {
        FirstThread.orAnother(of: pid) { tid in
            var target = [UInt8](repeating: 0, count: Self.longestPath)
            let length = readlink("/proc/\(tid)/fd/\(descriptor)", &target, target.count)
            return length > 0 ? String(decoding: target.prefix(length), as: UTF8.self) : nil
        }
    }

    func isRegular(_ descriptor: Int32) -> Bool? {
        FirstThread.orAnother(of: pid) { tid in
            var file = fl_file()
            let link = "/proc/\(tid)/fd/\(descriptor)"
            return fl_known_file(AT_FDCWD, link, &file) == 0 ? fl_is_regular(file.mode) == 1 : nil
        }
    }

    func open(_ descriptor: Int32, by open: (_ path: String) -> Int32) -> Int32 {
        FirstThread.orAnother(of: pid) { tid in
            let opened = open("/proc/\(tid)/fd/\(descriptor)")
            guard opened >= 0 else { return nil }
            if DescriptorReserve.leaves(opened) { return opened }
            close(opened)
            return nil
        } ?? -1
    }

    func isSame(_ descriptor: Int32, as own: Int32) -> Bool {
        var (ours, theirs) = (fl_file(), fl_file())
        return own >= 0
            && fl_known_file(AT_FDCWD, "/proc/self/fd/\(own)", &ours) == 0
            && fl_known_file(AT_FDCWD, "/proc/\(pid)/fd/\(descriptor)", &theirs) == 0
            && ours.holder == theirs.holder && ours.inode == theirs.inode
    }

    var hasEndless: Bool {
        FirstThread.orAnother(of: pid) { Self.hasEndless(in: "/proc/\($0)/fd") } ?? false
    }

    /// nil: there is no file at all.
    private static func hasEndless(in folder: String) -> Bool? {
        guard let list = opendir(folder) else { return nil }
        defer { closedir(list) }
        let descriptor = dirfd(list)
        var count = 0
        while let entry = readdir(list) {
            count += 1
            var file = fl_file()
            let isFound = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    fl_known_file(descriptor, $0, &file) == 0
                }
            }
            if isFound, fl_is_endless(file.mode, file.device) == 1 { return true }
        }
        return count > 2 ? false : nil
    }
}

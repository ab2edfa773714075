import CSystem
import Glibc
import ProcessIO
import ProfileModel
import System

/// Whether a process has files open from which a read may take as long as it likes, in the kernel:
/// `/dev/zero` and its like. Where no events tell what a thread does, its threads are left alone.
struct EndlessFiles {
    private let pid: Int32
    private var budget: LookBudget
    private var isOpen = false
    private var lastLook: MonotonicTime?

    init(pid: Int32, at now: MonotonicTime = .now) {
        self.pid = pid
        budget = LookBudget(at: now, part: 400)
    }

    /// As of this tick, or of one a moment ago.
    mutating func areOpen(at tick: MonotonicTime) -> Bool {
        guard tick != lastLook, budget.allows(at: tick) else { return isOpen }
        lastLook = tick
        isOpen = budget.pay { [pid] in
            FirstThread.orAnother(of: pid) { Self.areOpen(in: "/proc/\($0)/fd") } ?? false
        }
        return isOpen
    }

    /// nil: there is no file at all.
    private static func areOpen(in folder: String) -> Bool? {
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

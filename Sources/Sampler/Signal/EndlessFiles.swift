import CSystem
import Glibc
import ProfileModel

/// Whether a process has files open from which a read may take as long as it likes, in the kernel:
/// `/dev/zero` and its like. Where no events tell what a thread does, its threads are left alone.
struct EndlessFiles {
    private let folder: String
    private var budget: LookBudget
    private var isOpen = false
    private var lastLook: MonotonicTime?

    init(pid: Int32, at now: MonotonicTime = .now) {
        folder = "/proc/\(pid)/fd"
        budget = LookBudget(at: now, part: 400)
    }

    /// As of this tick, or of one a moment ago.
    mutating func areOpen(at tick: MonotonicTime) -> Bool {
        guard tick != lastLook, budget.allows(at: tick) else { return isOpen }
        lastLook = tick
        isOpen = budget.pay { Self.areOpen(in: folder) }
        return isOpen
    }

    private static func areOpen(in folder: String) -> Bool {
        guard let list = opendir(folder) else { return false }
        defer { closedir(list) }
        let descriptor = dirfd(list)
        while let entry = readdir(list) {
            var status = stat()
            let isFound = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    fstatat(descriptor, $0, &status, 0) == 0
                }
            }
            if isFound, fl_is_endless(status.st_mode, UInt64(status.st_rdev)) == 1 { return true }
        }
        return false
    }
}

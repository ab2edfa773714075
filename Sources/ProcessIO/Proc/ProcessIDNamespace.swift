import Glibc

/// The namespace of process ids that we live in.
package enum ProcessIDNamespace {
    /// True if we see other process ids than the whole machine has; nil: unknown.
    package static var isOwn: Bool? { name.map { $0 != initial } }

    /// `PROC_PID_INIT_INO` of the kernel's proc_ns.h: the machine's own process ids.
    private static let initial = "pid:[4026531836]"

    private static var name: String? {
        var target = [UInt8](repeating: 0, count: 64)
        let length = readlink("/proc/self/ns/pid", &target, target.count)
        return length > 0 ? String(decoding: target.prefix(length), as: UTF8.self) : nil
    }
}

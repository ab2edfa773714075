/// How a file system's kind affects reading: whether files can leave the page cache, and whether
/// the kernel counts reads from the device.
package enum FileSystemKind: Hashable, Sendable {
    /// On a block device: reads are counted (`read_bytes` of /proc/PID/io).
    case disk
    /// Containers' layers: reads go to the file system below. They are counted if that is on a
    /// block device.
    case overlay
    /// Files that exist only in memory: they are never cold.
    case memory
    /// Read over a network: nothing is counted, and a server has its own cache.
    case network
    /// Another program does the reading (FUSE).
    case program
    /// An unknown kind, or one with a cache of its own besides the kernel's (ZFS).
    case other

    /// - Parameter type: as in statfs(2) and the kernel's `linux/magic.h`.
    package init(type: UInt32) {
        switch type {
        // ext2 to 4, XFS, Btrfs, F2FS, bcachefs, JFS, NILFS, ReiserFS, OCFS2, GFS2
        case 0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0xCA45_1A4E, 0x3153_464A, 0x3434,
            0x5265_4973, 0x7461_636F, 0x0116_1970:
            self = .disk
        // squashfs, EROFS, ISO 9660, UDF, FAT, exFAT, NTFS
        case 0x7371_7368, 0xE0F5_E1E2, 0x9660, 0x1501_3346, 0x4D44, 0x2011_BAB0, 0x7366_746E:
            self = .disk
        case 0x794C_7630: self = .overlay
        // tmpfs, ramfs, hugetlbfs, proc, sysfs, cgroup, cgroup2, devpts, debugfs, tracefs, bpf
        case 0x0102_1994, 0x8584_58F6, 0x9584_58F6, 0x9FA0, 0x6265_6572, 0x0027_E0EB, 0x6367_7270,
            0x1CD1, 0x6462_6720, 0x7472_6163, 0xCAFE_4A11:
            self = .memory
        // NFS, SMB, CIFS, SMB2, AFS, Coda, Ceph, 9P, Lustre
        case 0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x5346_414F, 0x7375_7245, 0x00C3_6400,
            0x0102_1997, 0x0BD0_0BD0:
            self = .network
        case 0x6573_5546: self = .program
        default: self = .other
        }
    }

    /// True if bytes read can prove that a file was cold.
    package var isProvable: Bool { self == .disk || self == .overlay }

    /// "network file system".
    package var words: String {
        switch self {
        case .disk: "disk"
        case .overlay: "overlay"
        case .memory: "file system in memory"
        case .network: "network file system"
        case .program: "file system of a program (FUSE)"
        case .other: "file system of an unknown kind"
        }
    }
}

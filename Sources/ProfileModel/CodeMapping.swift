/// A line of `/proc/PID/maps` that backs code.
package struct CodeMapping: Hashable, Sendable {
    /// The mapping of our own code in the program: its frames are not shown.
    package static let ownPath = "/memfd:firstlight (deleted)"

    package var start: UInt64
    package var end: UInt64
    /// The offset of the range's begin in the file, in bytes.
    package var fileOffset: UInt64
    /// Empty for anonymous memory (JIT code); `[vdso]` for the kernel's.
    package var path: String
    package var inode: UInt64
    /// The file's GNU build id, if known when the mapping was seen; a file with another one is not
    /// the mapped file. Empty: unknown; then ``inode`` decides.
    package var buildID: [UInt8]

    package func contains(_ address: UInt64) -> Bool { start <= address && address < end }

    /// True if the memory has a name but no file in a folder. It may hold code that was made at run
    /// time, or a program or library that was copied there.
    package var isMemory: Bool {
        path.isEmpty
            || ["[anon:", "//anon", "/memfd:", "/dev/zero", "/anon_hugepage"].contains {
                path.hasPrefix($0)
            }
    }

    /// True if it is kernel code, which all processes share.
    package var isKernel: Bool { Module.isKernel(path) }

    package init(
        start: UInt64, end: UInt64, fileOffset: UInt64, path: String, inode: UInt64,
        buildID: [UInt8] = []
    ) {
        self.start = start
        self.end = end
        self.fileOffset = fileOffset
        self.path = path
        self.inode = inode
        self.buildID = buildID
    }
}

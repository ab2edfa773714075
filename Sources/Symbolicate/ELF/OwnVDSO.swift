internal import CElfutils
internal import Glibc

/// The vdso is in no file; every process of this kernel has the same one mapped.
enum OwnVDSO {
    /// This process's own vdso, if it is the one that was recorded. A recording that does not
    /// know its vdso's build id may be of another kernel.
    static func open(expecting buildID: [UInt8]) throws(ElfFileError) -> ElfFile {
        guard let image = image() else { throw .cannotOpen(ENOENT) }
        let file = try ElfFile(image: image)
        guard !buildID.isEmpty, file.buildID == buildID else { throw .otherBuildID }
        return file
    }

    /// The mapped image. Its section headers lie behind what its program header spans, but on
    /// pages that are mapped: the kernel maps the whole file.
    private static func image() -> UnsafeMutableRawBufferPointer? {
        let address = UInt(getauxval(UInt(AT_SYSINFO_EHDR)))
        guard let start = UnsafeMutableRawPointer(bitPattern: address) else { return nil }
        let header = start.loadUnaligned(as: Elf64_Ehdr.self)
        let end = Int(header.e_shoff) + Int(header.e_shnum) * Int(header.e_shentsize)
        return UnsafeMutableRawBufferPointer(start: start, count: end)
    }
}

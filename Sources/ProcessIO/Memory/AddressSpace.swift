/// The size of a process's memory, and its mappings. The files stay open because the size is read
/// at every look.
package protocol AddressSpace: AnyObject {
    /// In pages; 0 once the process has given up its memory, which an ending process does first.
    func pages() -> Int64
    /// The size of its executable part, in KiB, as of the last ``pages()``; -1: not known.
    func code() -> Int64
    /// All mappings; empty: they cannot be read.
    func mappings() -> [ProcFormats.MapsLine]
    /// After an exec: the open files belong to the former program.
    func reopen()
}

/// Asks the real kernel.
package final class KernelAddressSpace: AddressSpace {
    private let pid: Int32
    private var sizeFile: KeptFile?
    private var statusFile: KeptFile?
    private var buffer = ReadBuffer(capacity: 16384)

    package init(pid: Int32) { self.pid = pid }

    package func pages() -> Int64 {
        if sizeFile == nil { open(of: pid) }
        let size = sizeOfOpened()
        guard size <= 0, let tid = FirstThread.orHolder(of: pid) else { return size }
        open(of: tid)
        return sizeOfOpened()
    }

    package func code() -> Int64 {
        statusFile?.read(into: &buffer)
        return ProcFormats.field("VmLib:", buffer.text) ?? -1
    }

    package func mappings() -> [ProcFormats.MapsLine] {
        buffer.readAll("maps", of: pid)
        return ProcFormats.maps(buffer.text)
    }

    package func reopen() {
        sizeFile = nil
        statusFile = nil
    }

    private func open(of tid: Int32) {
        sizeFile = KeptFile("/proc/\(tid)/statm")
        statusFile = KeptFile("/proc/\(tid)/status")
    }

    private func sizeOfOpened() -> Int64 {
        guard sizeFile != nil else { return 0 }
        sizeFile?.read(into: &buffer)
        var text = buffer.text
        return text.decimal() ?? 0
    }
}

import PerfData
import ProfileModel

extension PerfMapping {
    /// The kernel's code with the path and the offset that recordings use; nil: it is not code of
    /// the kernel that ran the process, or perf did not know where it was.
    var kernelCode: PerfMapping? {
        guard isKernel, CodeAddress.isKernel(start), let path = Self.kernelPath(self.path) else {
            return nil
        }
        var result = self
        result.path = path
        // perf does not record the protection together with a build id.
        result.isExecutable = true
        // For the kernel's own code, perf records the address of `_text`, which is the origin of
        // addresses.
        let origin =
            path == Module.kernelPath && CodeAddress.isKernel(fileOffset) ? fileOffset : start
        result.fileOffset = start &- origin
        return result
    }

    /// perf's names for the kernel's code: `[kernel.kallsyms]_text`; for a module
    /// `/lib/…/NAME.ko.xz` or `[NAME]`. A guest's kernel has other names.
    static func kernelPath(_ path: String) -> String? {
        if path.hasPrefix("[kernel") { return Module.kernelPath }
        if path.hasPrefix("[guest") { return nil }
        if path.hasPrefix("["), path.hasSuffix("]") {
            return Module.kernelPath(ofModule: path.dropFirst().dropLast())
        }
        guard let file = path.split(separator: "/").last, let end = file.firstRange(of: ".ko")
        else { return nil }
        // The file's name may have dashes where the kernel has underscores.
        return Module.kernelPath(
            ofModule: String(file[..<end.lowerBound].map { $0 == "-" ? "_" : $0 }))
    }
}

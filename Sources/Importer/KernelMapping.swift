import PerfData
import ProfileModel

extension PerfMapping {
    /// The kernel's code with the path and the offset that recordings have for it; nil: it is not code
    /// of the kernel that ran the process, or perf was not told where it is.
    var kernelCode: PerfMapping? {
        guard isKernel, CodeAddress.isKernel(start), let path = Self.kernelPath(self.path) else {
            return nil
        }
        var result = self
        result.path = path
        // With its build id perf tells no protection.
        result.isExecutable = true
        // Of the kernel's own code perf tells the address of `_text`, which addresses count from.
        let origin =
            path == Module.kernelPath && CodeAddress.isKernel(fileOffset) ? fileOffset : start
        result.fileOffset = start &- origin
        return result
    }

    /// What perf names the kernel's code: `[kernel.kallsyms]_text`; of a module `/lib/…/NAME.ko.xz` or
    /// `[NAME]`. A guest's has other names.
    static func kernelPath(_ path: String) -> String? {
        if path.hasPrefix("[kernel") { return Module.kernelPath }
        if path.hasPrefix("[guest") { return nil }
        if path.hasPrefix("["), path.hasSuffix("]") {
            return Module.kernelPath(ofModule: path.dropFirst().dropLast())
        }
        guard let file = path.split(separator: "/").last, let end = file.firstRange(of: ".ko")
        else { return nil }
        // The file may have dashes where the kernel has underscores.
        return Module.kernelPath(
            ofModule: String(file[..<end.lowerBound].map { $0 == "-" ? "_" : $0 }))
    }
}

import ProfileModel

/// A library for debugging uses CPU time on the main thread: a sanitizer's, a checking allocator's,
/// or a library's debug variant.
struct DebugLibraries: FindingRule {
    func findings(in search: inout FindingSearch) -> [Finding] {
        search.profile.modules.indices.compactMap { index in
            let path = search.profile.modules[index].path
            guard Self.isForDebugging(path) else { return nil }
            let spent = OwnTime(of: search) { frame in
                search.profile.frames[frame.function].moduleIndex == ModuleIndex(index)
            }
            guard spent.cpu >= search.least else { return nil }
            return spent.finding(.debugLibrary(String(Module(path: path).name)), search)
        }
    }

    /// Judged by its name, or by the folder in which distributions keep debug variants.
    static func isForDebugging(_ path: String) -> Bool {
        let name = Module(path: path).name
        return names.contains { name.hasPrefix($0) } || path.contains("/debug/lib")
    }

    private static let names = [
        "libasan.so", "libtsan.so", "libubsan.so", "liblsan.so", "libmsan.so", "libhwasan.so",
        "libclang_rt.", "libc_malloc_debug.so", "libefence.so", "libduma.so", "libdmalloc",
    ]
}

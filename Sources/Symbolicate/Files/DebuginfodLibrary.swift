internal import Glibc

// Loaded only when it is needed, like XCB and libunwind (CXCB, CLibunwind). libdebuginfod needs
// curl and its dependencies, 30 libraries, which would be mapped at each start for a feature that
// few users need. And if it is missing, everything else still works.
//
// Unsafe: functions are looked up by name and called with the types that elfutils' debuginfod.h
// declares since 0.179. The library is never unloaded, so they stay valid.

/// elfutils' libdebuginfod.
struct DebuginfodLibrary {
    typealias Client = OpaquePointer
    /// Called repeatedly during a fetch, with the bytes so far and in all; a result other than 0
    /// ends the fetch.
    typealias Progress = @convention(c) (Client?, Int, Int) -> Int32
    typealias Begin = @convention(c) () -> Client?
    typealias End = @convention(c) (Client?) -> Void
    typealias Path = UnsafeMutablePointer<CChar>
    /// Build id, its length, the path of the file (malloced). Returns a descriptor, or -errno.
    typealias Find =
        @convention(c) (
            Client?, UnsafePointer<UInt8>?, Int32, UnsafeMutablePointer<Path?>?
        ) -> Int32
    typealias SetProgress = @convention(c) (Client?, Progress?) -> Void

    let begin: Begin
    let end: End
    let findDebugInfo: Find
    let setProgress: SetProgress

    /// nil if the library is not installed, or too old.
    init?() {
        guard let library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL),
            let begin = dlsym(library, "debuginfod_begin"),
            let end = dlsym(library, "debuginfod_end"),
            let find = dlsym(library, "debuginfod_find_debuginfo"),
            let setProgress = dlsym(library, "debuginfod_set_progressfn")
        else { return nil }
        self.begin = unsafeBitCast(begin, to: Begin.self)
        self.end = unsafeBitCast(end, to: End.self)
        findDebugInfo = unsafeBitCast(find, to: Find.self)
        self.setProgress = unsafeBitCast(setProgress, to: SetProgress.self)
    }
}

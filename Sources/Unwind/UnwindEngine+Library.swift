import CLibunwind
package import ProfileModel

extension UnwindEngine {
    /// The file of a library that this engine needs and that cannot be loaded; nil: it can be used.
    package var missingLibrary: String? {
        self == .libunwind && fl_library_is_loadable() == 0 ? FL_LIBUNWIND : nil
    }
}

/// The architecture's names in the kernel and in files.
package enum Machine {
    /// As uname(2) and perf have it.
    @inlinable package static var name: String { "x86_64" }

    /// `EM_X86_64`, in the headers of ELF files.
    @inlinable package static var elfNumber: UInt16 { 62 }

    /// The folder of its libraries within `/lib` and `/usr/lib`, on distributions that have one.
    @inlinable package static var libraryFolder: String { "x86_64-linux-gnu" }

    /// The code segment of 64-bit code; other code numbers its calls differently.
    @inlinable package static var codeSegment: UInt64 { 0x33 }

    /// The line of `/proc/PID/status` with the processor features that a thread has enabled.
    @inlinable package static var threadFeatures: StaticString { "x86_Thread_features:" }
}

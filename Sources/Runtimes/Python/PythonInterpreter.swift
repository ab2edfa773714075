package import ProfileModel

/// A running CPython interpreter, as found in a process: releases 3.8 to 3.14, for x86-64.
package struct PythonInterpreter: Hashable, Sendable {
    package var version: PythonVersion
    /// The address of `_PyRuntime` in the process.
    package var runtime: UInt64
    /// The addresses of the types of code objects and of texts: each object points to its type.
    package var codeType: UInt64
    package var textType: UInt64
    package var offsets: PythonLayout

    /// The layout for copying frames when a sample is taken.
    package var layout: FrameListLayout { offsets.frames }

    /// The function that runs Python code: each of its native frames runs the frames of one
    /// activation.
    package static let loop = "_PyEval_EvalFrameDefault"

    /// All symbols that are looked up.
    package static let symbols = [
        "_PyRuntime", "PyCode_Type", "PyUnicode_Type", "PyFrame_Type", "Py_Version",
        "_Py_NegativeRefcount", loop,
    ]

    /// nil: there is no interpreter, its release or build is unknown here, or its description of
    /// itself does not fit.
    ///
    /// - Parameters:
    ///   - path: the path of the mapped file.
    ///   - symbol: gives the process's address of an exported symbol; nil: there is none.
    package init?(
        path: String, symbol: (String) -> UInt64?, memory: any RuntimeMemory
    ) {
        guard let runtime = symbol("_PyRuntime"), let codeType = symbol("PyCode_Type"),
            let textType = symbol("PyUnicode_Type"),
            // Only debug builds count references in this way.
            symbol("_Py_NegativeRefcount") == nil,
            let found = Self.version(path: path, symbol: symbol, memory),
            let offsets = Self.offsets(found.version, found.number, runtime: runtime, memory)
        else { return nil }
        (self.runtime, self.codeType, self.textType) = (runtime, codeType, textType)
        (self.offsets, version) = (offsets, found.version)
        guard Self.objectSize(of: codeType, memory) == UInt64(offsets.codeSize) else { return nil }
        if let size = offsets.frameSize {
            guard let frameType = symbol("PyFrame_Type"),
                Self.objectSize(of: frameType, memory) == UInt64(size)
            else { return nil }
        }
    }

    /// True if a mapped file may be an interpreter, judging by its path, before it is opened.
    package static func mayBe(path: String) -> Bool {
        if let version = PythonVersion(path: path) { return 8...14 ~= version.minor }
        return ["", "3"].contains(PythonVersion.rest(ofName: path))
    }

    private static func version(
        path: String, symbol: (String) -> UInt64?, _ memory: any RuntimeMemory
    ) -> (version: PythonVersion, number: UInt64)? {
        if let place = symbol("Py_Version") {
            guard let number = memory.word(at: place).map({ $0 & UInt64(UInt32.max) }),
                let version = PythonVersion(number: number), version.major == 3,
                version.minor >= 11
            else { return nil }
            return (version, number)
        }
        guard let version = PythonVersion(path: path), version.minor < 11 else { return nil }
        return (version, 0)
    }

    private static func offsets(
        _ version: PythonVersion, _ number: UInt64, runtime: UInt64, _ memory: any RuntimeMemory
    ) -> PythonLayout? {
        guard let table = PythonLayout.of(minor: version.minor) else { return nil }
        guard version.minor >= 13 else { return table }
        return PythonDebugOffsets(at: runtime, version: version, number: number, memory)?
            .corrected(table)
    }

    /// The size of objects according to their type: a constant in the file, correct before any code
    /// runs.
    private static func objectSize(of type: UInt64, _ memory: any RuntimeMemory) -> UInt64? {
        memory.word(at: type.advanced(by: 32))
    }
}

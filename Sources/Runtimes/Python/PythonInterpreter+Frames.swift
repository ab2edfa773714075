package import ProfileModel

extension PythonInterpreter {
    /// A copied frame's code and first parameter.
    package struct CopiedFrame: Hashable, Sendable {
        /// The index in the copy, which has the newest first.
        package var index: Int
        package var key: PythonCodeKey
        /// A pointer to an object; 0: there is none.
        package var firstLocal: UInt64
    }

    /// The frames of a copy whose codes were copied, too, newest first. Frames that only mark where
    /// those of a native frame end are left out.
    ///
    /// - Parameter oldest: how many frames at the end are left out.
    package func frames(of copy: RuntimeCopy, without oldest: Int = 0) -> [CopiedFrame] {
        let size = layout.identity.size
        let count = min(copy.completeCount(layout), copy.addresses.count - max(0, oldest))
        return (0..<max(0, count)).compactMap { index in
            guard let record = copy.record(index, layout), !isShim(record),
                let code = record.code
            else { return nil }
            return CopiedFrame(
                index: index,
                key: PythonCodeKey(
                    address: code,
                    identity: copy.identities[index * size..<(index + 1) * size]),
                firstLocal: (record.word(offsets.frame.firstLocal) ?? 0) & offsets.localMask)
        }
    }
}

extension PythonCode {
    /// True if it is importlib's function whose first local variable names a module that is being
    /// imported or waited for.
    package var namesImport: Bool {
        role == .begin || role == .wait
    }
}

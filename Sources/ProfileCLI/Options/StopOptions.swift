/// The options of `stop`.
package struct StopOptions: Sendable {
    /// The recorder's process id.
    package var pid: Int32

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        let word = arguments.operands.first ?? ""
        guard word.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let pid = Int32(word), pid > 0 else {
            throw UsageError(.stop, "invalid process id '\(word)': it must be a whole number")
        }
        self.pid = pid
    }
}

import ProfileModel

extension Image {
    /// What was started, in the words of whoever started it. For a script, the kernel runs the
    /// interpreter, and names the thread after the script.
    ///
    /// - Parameter threadName: the first thread's name; nil: not known.
    func title(threadName: String?) -> String {
        guard let threadName, !threadName.isEmpty else { return String(name) }
        // The interpreter's own argument may stand before the script.
        let script = arguments.dropFirst().prefix(2).compactMap { argument in
            argument.split(separator: "/").last
        }.first { Self.threadName(of: $0) == threadName }
        return script.map(String.init) ?? String(name)
    }

    /// As the kernel cuts it: 15 bytes.
    private static func threadName(of file: Substring) -> String {
        String(decoding: file.utf8.prefix(15), as: UTF8.self)
    }
}

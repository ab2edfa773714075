/// Lines of source files, for reports that show them.
package struct SourceLines: Sendable {
    /// By the file's path in the debug information, then by line, 1-based.
    package var files: [String: [Int32: String]] = [:]

    package init() {}
}

package import ProfileModel

/// Who knows what must change in a program or library so that its marks are noted. Called from
/// several threads.
package protocol MarkPlanner: Sendable {
    /// What is to be marked.
    var requests: [MarkRequest] { get }

    /// Reads what a program's file and those of its libraries tell, so that nobody waits for it when
    /// plans are asked for.
    ///
    /// - Parameters:
    ///   - file: where it is now.
    ///   - path: where it is found.
    func prepare(_ file: String, path: String)

    /// nil: its file cannot be read.
    ///
    /// - Parameter read: up to so many bytes of the process's memory.
    func plan(
        for image: MarkedImage,
        read: @Sendable (_ address: UInt64, _ count: Int) -> [UInt8]
    ) -> MarkPlan?
}

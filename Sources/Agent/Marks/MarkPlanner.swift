package import ProfileModel

/// Plans the changes to a program or library with which its marks are noted. Called from several
/// threads.
package protocol MarkPlanner: Sendable {
    /// The marks that the user asks for.
    var requests: [MarkRequest] { get }

    /// Reads the files of a program and its libraries ahead, so that later plans need not wait for
    /// this.
    ///
    /// - Parameters:
    ///   - file: where the program's file can be read now.
    ///   - path: the path at which the program is found.
    func prepare(_ file: String, path: String)

    /// nil: the image's file cannot be read.
    ///
    /// - Parameter read: reads at most that many bytes of the process's memory.
    func plan(
        for image: MarkedImage,
        read: @Sendable (_ address: UInt64, _ count: Int) -> [UInt8]
    ) -> MarkPlan?
}

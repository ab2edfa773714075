package import ProfileModel

/// `record --runtime node`: the additions to the program's environment, and the files that are
/// removed afterwards.
package struct NodeRequest: Sendable {
    /// nil: the user's own value asks for all of it.
    package let change: EnvironmentChange?
    /// In seconds since 1970: older maps belong to other processes.
    package let start: Int
    /// True if maps of functions are written because of us.
    private let asksForMaps: Bool

    /// - Parameters:
    ///   - value: the program's value of ``NodeOptions/variable``; nil: it is not set.
    ///   - start: now, in seconds since 1970.
    package init(completing value: [UInt8]?, start: Int) {
        let name = Array(NodeOptions.variable.utf8)
        change = NodeOptions.completed(value).map { EnvironmentChange(name: name, value: $0) }
        asksForMaps = !NodeOptions.asksForMap(value)
        self.start = start
    }

    /// Notes for readers of the recording.
    package var notes: [RecorderNote] { change == nil ? [] : [RecorderNote(.nodeOptions, 1)] }

    /// True if a process's map is there because of us. If the process's own command line asks for
    /// the map, it is the user's and stays.
    ///
    /// - Parameter images: the programs that the process ran.
    package func causedMap(ofProcessRunning images: [Image]) -> Bool {
        asksForMaps && !images.contains { NodeOptions.asksForMap(arguments: $0.arguments) }
    }
}

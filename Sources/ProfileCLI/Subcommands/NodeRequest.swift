import Glibc
import ProfileModel
import Runtimes
import Symbolicate

/// `record --runtime node`: what is added to the program's environment, and what is removed
/// afterwards.
struct NodeRequest {
    /// nil: the user's own value asks for all of it.
    let change: EnvironmentChange?
    /// True if maps of functions are written because of us.
    private let asksForMaps: Bool
    /// In seconds since 1970: older maps belong to other processes.
    let start: Int

    /// - Parameter changes: the other changes to the program's environment.
    init(after changes: [EnvironmentChange]) {
        let name = Array(NodeOptions.variable.utf8)
        let value =
            changes.last { $0.name == name }.map(\.value) ?? Self.ownValue(NodeOptions.variable)
        change = NodeOptions.completed(value).map { EnvironmentChange(name: name, value: $0) }
        asksForMaps = !NodeOptions.asksForMap(value)
        start = time(nil)
    }

    private static func ownValue(_ name: String) -> [UInt8]? {
        guard let value = getenv(name) else { return nil }
        return value.withMemoryRebound(to: UInt8.self, capacity: strlen(value)) {
            Array(UnsafeBufferPointer(start: $0, count: strlen(value)))
        }
    }

    /// What readers of the recording should know.
    var notes: [RecorderNote] { change == nil ? [] : [RecorderNote(.nodeOptions, 1)] }

    /// Removes a process's map after its names were taken. If the process's own command line asks
    /// for the map, it is the user's and stays.
    func remove(_ map: PerfMap, at path: String, owner: UInt32, of images: [Image]) {
        guard asksForMaps, map.isOfNode,
            !images.contains(where: { NodeOptions.asksForMap(arguments: $0.arguments) })
        else { return }
        PerfMap.remove(path, owner: owner, writtenSince: start)
    }
}

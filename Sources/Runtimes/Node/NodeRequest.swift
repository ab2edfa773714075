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

/// The options that make Node report where its functions are.
package enum NodeOptions {
    /// The variable of the environment from which Node takes options.
    package static let variable = "NODE_OPTIONS"

    /// Writes `/tmp/perf-PID.map`. `--perf-basic-prof` would also name V8's own code, which already
    /// has names in the program's file, and leave a log in the working directory.
    private static let map = "--perf-basic-prof-only-functions"
    /// Gives each interpreted function its own code, which the map can name.
    private static let interpreted = "--interpreted-frames-native-stack"

    /// The variable's value with the missing options added.
    ///
    /// - Parameter value: the user's value; nil: none.
    /// - Returns: nil: nothing is missing.
    package static func completed(_ value: [UInt8]?) -> [UInt8]? {
        let given = words(value ?? [])
        var added: [String] = []
        if !given.contains(where: asksForMap) { added.append(map) }
        if !given.contains(where: { isSame($0, interpreted) }) { added.append(interpreted) }
        guard !added.isEmpty else { return nil }
        let former = value.map { $0.isEmpty ? [] : $0 + [UInt8(ascii: " ")] } ?? []
        return former + Array(added.joined(separator: " ").utf8)
    }

    /// True if the user has already asked for a map.
    ///
    /// - Parameter value: the variable's value; nil: it is not set.
    package static func asksForMap(_ value: [UInt8]?) -> Bool {
        words(value ?? []).contains(where: asksForMap)
    }

    /// True if one of a program's arguments asks for a map.
    package static func asksForMap(arguments: some Sequence<String>) -> Bool {
        arguments.contains(where: asksForMap)
    }

    private static func asksForMap(_ option: String) -> Bool {
        isSame(option, map) || isSame(option, "--perf-basic-prof")
    }

    /// V8 accepts `_` for `-`.
    private static func isSame(_ option: String, _ name: String) -> Bool {
        option.utf8.elementsEqual(name.utf8) { given, wanted in
            given == wanted || given == UInt8(ascii: "_") && wanted == UInt8(ascii: "-")
        }
    }

    private static func words(_ value: [UInt8]) -> [String] {
        value.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    }
}

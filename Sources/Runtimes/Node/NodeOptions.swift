/// What makes Node say where its functions are.
package enum NodeOptions {
    /// The variable of the environment from which Node takes options.
    package static let variable = "NODE_OPTIONS"

    /// Writes `/tmp/perf-PID.map`. `--perf-basic-prof` would name V8's own code, too, which the
    /// program's file names already, and leave a log in the working directory.
    private static let map = "--perf-basic-prof-only-functions"
    /// Gives each interpreted function code of its own, which the map can name.
    private static let interpreted = "--interpreted-frames-native-stack"

    /// The variable's value with what it lacks.
    ///
    /// - Parameter value: what the user has there; nil: nothing.
    /// - Returns: nil: it lacks nothing.
    package static func completed(_ value: [UInt8]?) -> [UInt8]? {
        let given = words(value ?? [])
        var added: [String] = []
        if !given.contains(where: asksForMap) { added.append(map) }
        if !given.contains(where: { isSame($0, interpreted) }) { added.append(interpreted) }
        guard !added.isEmpty else { return nil }
        let former = value.map { $0.isEmpty ? [] : $0 + [UInt8(ascii: " ")] } ?? []
        return former + Array(added.joined(separator: " ").utf8)
    }

    /// Whether the user has asked for a map himself.
    ///
    /// - Parameter value: of the variable; nil: it is not set.
    package static func asksForMap(_ value: [UInt8]?) -> Bool {
        words(value ?? []).contains(where: asksForMap)
    }

    /// Whether one of a program's arguments asks for a map.
    package static func asksForMap(arguments: some Sequence<String>) -> Bool {
        arguments.contains(where: asksForMap)
    }

    private static func asksForMap(_ option: String) -> Bool {
        isSame(option, map) || isSame(option, "--perf-basic-prof")
    }

    /// V8 takes `_` for `-`.
    private static func isSame(_ option: String, _ name: String) -> Bool {
        option.utf8.elementsEqual(name.utf8) { given, wanted in
            given == wanted || given == UInt8(ascii: "_") && wanted == UInt8(ascii: "-")
        }
    }

    private static func words(_ value: [UInt8]) -> [String] {
        value.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    }
}

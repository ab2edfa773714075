import Glibc
import ProfileModel
import Runtimes

extension NodeRequest {
    /// For a program that gets our environment.
    ///
    /// - Parameter changes: the other changes to the program's environment.
    init(after changes: [EnvironmentChange]) {
        let name = Array(NodeOptions.variable.utf8)
        let value =
            changes.last { $0.name == name }.map(\.value) ?? Self.ownValue(NodeOptions.variable)
        self.init(completing: value, start: time(nil))
    }

    /// The variable's bytes, which may not be valid text.
    private static func ownValue(_ name: String) -> [UInt8]? {
        guard let value = getenv(name) else { return nil }
        return value.withMemoryRebound(to: UInt8.self, capacity: strlen(value)) {
            Array(UnsafeBufferPointer(start: $0, count: strlen(value)))
        }
    }
}

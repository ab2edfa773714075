import Glibc
import ProfileModel

/// What a program gets instead of what we have.
struct ProgramSetting: ~Copyable {
    /// Its NOTIFY_SOCKET; nil: ours, if there is one.
    var notifySocket: String?
    /// Its standard output and error; nil: ours. They are closed with this value.
    private(set) var output: Int32?
    private(set) var error: Int32?

    init() {}

    /// Takes over `descriptor`; what stood in its place is closed.
    mutating func replaceStreams(by descriptor: Int32, output isOutput: Bool, error isError: Bool) {
        let before = descriptors
        if isOutput { output = descriptor }
        if isError { error = descriptor }
        for replaced in before.subtracting(descriptors) { Glibc.close(replaced) }
    }

    private var descriptors: Set<Int32> { Set([output, error].compactMap { $0 }) }

    /// As ``fl_spawn_held`` wants them.
    var streams: [Int32] { [output ?? -1, error ?? -1] }

    /// Our own copies: as long as we hold them, there is no end to what comes out of the others.
    mutating func close() {
        for descriptor in descriptors { Glibc.close(descriptor) }
        (output, error) = (nil, nil)
    }

    deinit {
        for descriptor in descriptors { Glibc.close(descriptor) }
    }

    /// Our own environment, as `NAME=value` words, with what is different for the program.
    func environment(changing changes: [EnvironmentChange] = []) -> [[CChar]] {
        var words: [[UInt8]] = []
        var next = environ
        while let word = next.pointee {
            words.append(
                word.withMemoryRebound(to: UInt8.self, capacity: strlen(word)) {
                    Array(UnsafeBufferPointer(start: $0, count: strlen(word)))
                })
            next += 1
        }
        // What waits for its messages knows no other socket.
        let notify = notifySocket.map { [EnvironmentChange("NOTIFY_SOCKET", $0)] } ?? []
        return EnvironmentChange.apply(changes + notify, to: words).map { word in
            word.map { CChar(bitPattern: $0) } + [0]
        }
    }
}

import Glibc
import ProfileModel

/// What a program gets instead of what we have.
struct ProgramSetting: ~Copyable {
    /// What its environment has instead of ours.
    var variables: [String: String] = [:]
    /// Its standard output and error; nil: ours. They are closed with this value.
    private(set) var output: Int32?
    private(set) var error: Int32?
    /// Other descriptors that it inherits under their numbers.
    private var inherited: [Int32] = []

    /// What they are otherwise, which is the caller's; nil: ours.
    private let givenOutput: Int32?
    private let givenError: Int32?

    init(output: Int32? = nil, error: Int32? = nil) {
        (givenOutput, givenError) = (output, error)
    }

    /// Where its output and error lead.
    var currentOutput: Int32 { output ?? givenOutput ?? STDOUT_FILENO }
    var currentError: Int32 { error ?? givenError ?? STDERR_FILENO }

    /// Whether this is one of ours that the program has instead of what we have.
    func isGiven(_ stream: Int32) -> Bool { stream == givenOutput || stream == givenError }

    /// A descriptor that is for the program alone.
    mutating func handOn(_ descriptor: Int32) { inherited.append(descriptor) }

    /// Takes over `descriptor`; what stood in its place is closed.
    mutating func replaceStreams(by descriptor: Int32, output isOutput: Bool, error isError: Bool) {
        let before = descriptors
        if isOutput { output = descriptor }
        if isError { error = descriptor }
        for replaced in before.subtracting(descriptors) { Glibc.close(replaced) }
    }

    private var descriptors: Set<Int32> { Set([output, error].compactMap { $0 } + inherited) }

    /// As ``fl_make_start`` wants them.
    var streams: [Int32] { [output ?? givenOutput ?? -1, error ?? givenError ?? -1] }

    /// Our own copies: as long as we hold them, there is no end to what comes out of the others.
    mutating func close() {
        for descriptor in descriptors { Glibc.close(descriptor) }
        (output, error, inherited) = (nil, nil, [])
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
        // What is waited for comes by these, and by no others.
        let own = variables.sorted { $0.key < $1.key }.map { EnvironmentChange($0.key, $0.value) }
        return EnvironmentChange.apply(changes + own, to: words).map { word in
            word.map { CChar(bitPattern: $0) } + [0]
        }
    }
}

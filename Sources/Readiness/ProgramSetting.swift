import Glibc
package import ProfileModel

/// The environment and descriptors that a program gets in place of ours.
package struct ProgramSetting: ~Copyable {
    /// Variables that replace those of our environment.
    package var variables: [String: String] = [:]
    /// Its standard output and error; nil: ours. They are closed with this value.
    package private(set) var output: Int32?
    package private(set) var error: Int32?
    /// Other descriptors that it inherits under their numbers.
    private var inherited: [Int32] = []

    /// The streams that the caller gives it otherwise; nil: ours.
    private let givenOutput: Int32?
    private let givenError: Int32?

    package init(output: Int32? = nil, error: Int32? = nil) {
        (givenOutput, givenError) = (output, error)
    }

    /// Where the program's output and error lead.
    package var currentOutput: Int32 { output ?? givenOutput ?? STDOUT_FILENO }
    package var currentError: Int32 { error ?? givenError ?? STDERR_FILENO }

    /// True if the caller gave the program this stream in place of ours.
    package func isGiven(_ stream: Int32) -> Bool { stream == givenOutput || stream == givenError }

    /// Adds a descriptor for the program alone.
    package mutating func handOn(_ descriptor: Int32) { inherited.append(descriptor) }

    /// Takes over `descriptor`; closes the one that it replaces.
    package mutating func replaceStreams(
        by descriptor: Int32, output isOutput: Bool, error isError: Bool
    ) {
        let before = descriptors
        if isOutput { output = descriptor }
        if isError { error = descriptor }
        for replaced in before.subtracting(descriptors) { Glibc.close(replaced) }
    }

    private var descriptors: Set<Int32> { Set([output, error].compactMap { $0 } + inherited) }

    /// In the form that ``fl_make_start`` takes.
    package var streams: [Int32] { [output ?? givenOutput ?? -1, error ?? givenError ?? -1] }

    /// Closes our own copies. While we hold them, readers of the other ends see no end of file.
    package mutating func close() {
        for descriptor in descriptors { Glibc.close(descriptor) }
        (output, error, inherited) = (nil, nil, [])
    }

    deinit {
        for descriptor in descriptors { Glibc.close(descriptor) }
    }

    /// Our environment as `NAME=value` words, with the changes for the program.
    package func environment(changing changes: [EnvironmentChange] = []) -> [[CChar]] {
        var words: [[UInt8]] = []
        var next = environ
        while let word = next.pointee {
            words.append(
                word.withMemoryRebound(to: UInt8.self, capacity: strlen(word)) {
                    Array(UnsafeBufferPointer(start: $0, count: strlen(word)))
                })
            next += 1
        }
        // The conditions depend on exactly these values, so they come last.
        let own = variables.sorted { $0.key < $1.key }.map { EnvironmentChange($0.key, $0.value) }
        return EnvironmentChange.apply(changes + own, to: words).map { word in
            word.map { CChar(bitPattern: $0) } + [0]
        }
    }
}

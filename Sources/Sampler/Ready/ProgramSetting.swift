import Glibc

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

    /// As ``fl_spawn_held`` wants them.
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
    var environment: [[CChar]] {
        let names = variables.keys.map { Array("\($0)=".utf8CString.dropLast()) }
        var words: [[CChar]] = []
        var next = environ
        while let word = next.pointee {
            let bytes = Array(UnsafeBufferPointer(start: word, count: strlen(word) + 1))
            if !names.contains(where: { bytes.starts(with: $0) }) { words.append(bytes) }
            next += 1
        }
        for (name, value) in variables.sorted(by: { $0.key < $1.key }) {
            words.append(Array("\(name)=\(value)".utf8CString))
        }
        return words
    }
}

import Glibc

/// What a program gets instead of what we have.
struct ProgramSetting: ~Copyable {
    /// Its NOTIFY_SOCKET; nil: ours, if there is one.
    var notifySocket: String?
    /// Its standard output and error; nil: ours. They are closed with this value.
    private(set) var output: Int32?
    private(set) var error: Int32?

    /// What they are otherwise, which is the caller's; nil: ours.
    private let givenOutput: Int32?
    private let givenError: Int32?

    init(output: Int32? = nil, error: Int32? = nil) {
        (givenOutput, givenError) = (output, error)
    }

    /// Where its output and error lead.
    var currentOutput: Int32 { output ?? givenOutput ?? STDOUT_FILENO }
    var currentError: Int32 { error ?? givenError ?? STDERR_FILENO }

    /// Takes over `descriptor`; what stood in its place is closed.
    mutating func replaceStreams(by descriptor: Int32, output isOutput: Bool, error isError: Bool) {
        let before = descriptors
        if isOutput { output = descriptor }
        if isError { error = descriptor }
        for replaced in before.subtracting(descriptors) { Glibc.close(replaced) }
    }

    private var descriptors: Set<Int32> { Set([output, error].compactMap { $0 }) }

    /// As ``fl_spawn_held`` wants them.
    var streams: [Int32] { [output ?? givenOutput ?? -1, error ?? givenError ?? -1] }

    /// Our own copies: as long as we hold them, there is no end to what comes out of the others.
    mutating func close() {
        for descriptor in descriptors { Glibc.close(descriptor) }
        (output, error) = (nil, nil)
    }

    deinit {
        for descriptor in descriptors { Glibc.close(descriptor) }
    }

    /// Our own environment, as `NAME=value` words, with what is different for the program.
    var environment: [[CChar]] {
        let name = Array("NOTIFY_SOCKET=".utf8CString.dropLast())
        var words: [[CChar]] = []
        var next = environ
        while let word = next.pointee {
            let bytes = Array(UnsafeBufferPointer(start: word, count: strlen(word) + 1))
            if notifySocket == nil || !bytes.starts(with: name) { words.append(bytes) }
            next += 1
        }
        if let notifySocket { words.append(name + notifySocket.utf8CString) }
        return words
    }
}

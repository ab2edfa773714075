extension Output {
    /// Prints the result of `render`, and returns the exit status: 0; 1 for a failure, with a
    /// complaint; 141 for a closed pipe, without a message, like a program that SIGPIPE killed.
    static func print(
        to console: Console, _ render: () throws(Reading.Failure) -> String
    ) -> Int32 {
        write(to: nil, console) { () throws(Reading.Failure) in Array(try render().utf8) }
    }

    /// Writes the result of `render` to a file, or else to standard output, and returns the exit
    /// status like ``print(to:_:)``.
    static func write(
        to path: String?, _ console: Console, _ render: () throws(Reading.Failure) -> [UInt8]
    ) -> Int32 {
        let bytes: [UInt8]
        do {
            bytes = try render()
        } catch {
            console.complain(error.message)
            return 1
        }
        guard let path else { return print(bytes, to: console) }
        return write(bytes, to: path, console)
    }
}

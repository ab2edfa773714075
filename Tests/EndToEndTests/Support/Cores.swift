import Glibc

/// The cores that tests may use, which need not begin with 0: a container may have others.
enum Cores {
    /// One of them, for taskset(1).
    static func first() throws -> String {
        let list = Proc.status(getpid(), "Cpus_allowed_list")
        guard let number = list?.prefix(while: \.isNumber), !number.isEmpty else {
            throw Command.Failure(description: "no core is known")
        }
        return String(number)
    }
}

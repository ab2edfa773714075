import Glibc

/// The cores that tests may use. They need not begin with 0: a container may have other ones.
package enum Cores {
    /// A core, for taskset(1).
    package static func first() throws -> String {
        let list = Proc.status(getpid(), "Cpus_allowed_list")
        guard let number = list?.prefix(while: \.isNumber), !number.isEmpty else {
            throw Command.Failure(description: "no core is known")
        }
        return String(number)
    }
}

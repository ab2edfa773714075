package import ProfileModel

/// The conditions under which launches are to be made. Nothing has been tried yet.
package struct ConditionRequest: Hashable, Sendable {
    package enum Cold: Hashable, Sendable {
        /// The page cache keeps the previous launch's data (`--warm`).
        case no
        /// The program's files leave the page cache, except pages that other processes have mapped.
        case files
        /// As `files`, with copies that no other process has mapped (``PrivateCopies``).
        case privateCopies
        /// All caches are emptied (``AllCaches``).
        case all
    }

    package enum Home: Hashable, Sendable {
        /// An empty one for each launch (`--fresh-home`).
        case fresh
        /// A copy of a folder for each launch (`--home`).
        case copy(of: String)
    }

    package var cold = Cold.no
    /// nil: the machine's own network.
    package var network: NetworkCondition?
    /// nil: no limit.
    package var disk: DiskRate?
    /// nil: the user's own home.
    package var home: Home?
    /// Variables (``EnvironmentFile``).
    package var environment: [EnvironmentChange] = []
    /// Run before every launch.
    package var before: Hook?
    /// Run between two launches.
    package var between: Hook?
    /// True to end daemons that a launch leaves behind (`--clean`).
    package var endsDaemons = false

    package init() {}
}

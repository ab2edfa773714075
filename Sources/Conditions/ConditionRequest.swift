package import ProfileModel

/// Under what conditions launches are to be made. Nothing of it has been tried yet.
package struct ConditionRequest: Hashable, Sendable {
    package enum Cold: Hashable, Sendable {
        /// The page cache has what the launch before left there (`--warm`).
        case no
        /// The program's files leave the page cache, but for what others have mapped.
        case files
        /// The same with copies that nobody else has mapped (``PrivateCopies``).
        case privateCopies
        /// Everything leaves the caches (``AllCaches``).
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
    /// nil: the user's own.
    package var home: Home?
    /// Variables (``EnvironmentFile``).
    package var environment: [EnvironmentChange] = []
    /// Run before every launch.
    package var before: Hook?
    /// Run between two launches.
    package var between: Hook?
    /// Whether daemons that a launch leaves behind are ended (`--clean`).
    package var endsDaemons = false

    package init() {}
}

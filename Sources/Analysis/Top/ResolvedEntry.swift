package import ProfileModel

/// A thing that a user has resolved: from a date on it should not cost anything any more.
package struct ResolvedEntry: Hashable, Sendable {
    /// The thing's identity.
    package struct Thing: Hashable, Sendable {
        package var kind: TopKind
        /// The name of the function; of a library its file's, of a process its program's.
        package var name: String
        /// The name of the function's module; nil: any module.
        package var module: String?
        /// The kind of a wait's reason; nil: any.
        package var reason: WaitReason.Kind?

        package init(
            _ kind: TopKind, _ name: String, module: String? = nil,
            reason: WaitReason.Kind? = nil
        ) {
            self.kind = kind
            self.name = name
            self.module = module
            self.reason = reason
        }
    }

    package var thing: Thing
    /// In seconds since 1970: recordings that were written later are newer.
    package var since: Int64
    /// The build id of the program that still had it, or its beginning. A launch of that build is
    /// never newer. Empty: not given.
    package var build: String

    package init(_ thing: Thing, since: Int64, build: String = "") {
        self.thing = thing
        self.since = since
        self.build = build
    }

    /// Whether a launch should be free of it.
    func isOlder(than launch: TopLaunch, of build: String) -> Bool {
        launch.date > since && (self.build.isEmpty || !build.hasPrefix(self.build))
    }
}

extension ResolvedEntry.Thing {
    func isSame(as key: TopKey, called function: Function) -> Bool {
        key.kind == kind && function.name == name
            && (module == nil || kind.isNamedAlone || function.module == module)
            && (reason == nil || key.reason == reason)
    }
}

extension ResolvedEntry.Thing {
    /// Whether another thing is the same, or a more specific one.
    func includes(_ other: Self) -> Bool {
        kind == other.kind && name == other.name && (module == nil || module == other.module)
            && (reason == nil || reason == other.reason)
    }
}

extension [ResolvedEntry] {
    /// For each thing the entry that was resolved last, at the position of its first entry.
    package var latest: [ResolvedEntry] {
        var result: [ResolvedEntry] = []
        var known: [ResolvedEntry.Thing: Int] = [:]
        for entry in self {
            if let position = known[entry.thing] {
                if entry.since >= result[position].since { result[position] = entry }
            } else {
                known[entry.thing] = result.count
                result.append(entry)
            }
        }
        return result
    }
}

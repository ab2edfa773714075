package import Analysis
package import ClickHouse
package import Exports
internal import Report

package enum TopFormat: String, CaseIterable, Sendable {
    case text, json
}

/// The options of `top`.
package struct TopOptions: Sendable {
    /// A thing that is resolved from now on.
    package struct Resolve: Hashable, Sendable {
        /// nil: any thing with this name.
        package var kind: TopKind?
        package var name: String

        /// `NAME` or `KIND=NAME`.
        init(_ text: String) {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            // `operator=` is not a kind.
            if parts.count == 2, let kind = TopKind(rawValue: String(parts[0])), !parts[1].isEmpty {
                self.kind = kind
                name = String(parts[1])
            } else {
                name = text
            }
        }
    }

    /// Files and folders; for a store, names of programs.
    package var paths: [String]
    /// nil: files.
    package var store: StoreAddress?
    package var format: TopFormat
    package var phase: String?
    package var depth: Int?
    package var names: NameStyle
    /// The list of resolved things; nil: there is none.
    package var resolved: String?
    package var resolve: [Resolve]
    /// nil: standard output.
    package var output: String?
    package var showsTimings: Bool

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        paths = arguments.operands
        format = arguments.text(.format).flatMap(TopFormat.init) ?? .text
        phase = arguments.text(.phase)
        depth = arguments.integer(.depth)
        names = NameStyle(arguments)
        resolved = arguments.text(.resolved)
        resolve = arguments.texts(.resolve).map(Resolve.init)
        output = arguments.text(.output)
        showsTimings = arguments.isGiven(.timings)
        store = try arguments.text(.from).map { text throws(UsageError) in
            try ShipOptions.store(text, "from", .top)
        }
        guard store != nil || !paths.isEmpty else {
            throw UsageError(.top, "no file given" + UsageError.seeHelp(.top))
        }
        if store != nil, let name = arguments.given(of: [.resolved, .resolve, .demangle]).first {
            throw UsageError(.top, "--\(name) does not go with --from: it is for files")
        }
        guard resolve.isEmpty || resolved != nil else {
            throw UsageError(.top, "--resolve needs the list to add to: name one by --resolved")
        }
        // A user who asks for a part must not mistake the whole for it.
        guard format == .text || depth == nil else {
            throw UsageError(.top, "--depth does not go with --format json, which is complete")
        }
    }
}

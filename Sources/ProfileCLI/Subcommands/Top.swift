package import Analysis
package import ClickHouse
package import Exports
import ProfileModel
import Recording
import Report

/// `firstlight top`.
enum TopCommand {
    /// Prints what costs most, and returns the exit status.
    static func run(_ options: TopOptions, _ console: Console) -> Int32 {
        if let address = options.store { return ask(address, options, console) }
        var timings = Timings()
        var reading: TopReading?
        let status = Output.write(to: options.output, console) { () throws(Reading.Failure) in
            let list = try ResolvedFile(options.resolved, isMade: !options.resolve.isEmpty)
            list.complain(to: console)
            var read = TopReading(options, resolved: list.entries)
            read.readAll(console)
            reading = read
            read.addTimings(to: &timings)
            guard read.sums.launches > 0 else {
                throw Reading.Failure("nothing to show: none of these is a recording of a launch")
            }
            let added = try list.add(options.resolve, read.sums, console)
            let summary = try TopReading.attempt { () throws(TopError) in
                try TopSummary(read.sums, resolvedNow: added)
            }
            return timings.measure("printing") {
                render(summary, read.leftOut, options, console)
            }
        }
        if options.showsTimings { timings.print(to: console) }
        // Unreadable recordings are missing in the output.
        return status == 0 && (reading?.isIncomplete ?? false) ? 1 : status
    }

    /// The sums in a store.
    private static func ask(
        _ address: StoreAddress, _ options: TopOptions, _ console: Console
    ) -> Int32 {
        var timings = Timings()
        let status = Output.write(to: options.output, console) { () throws(Reading.Failure) in
            let sums = try timings.measure("asking") { () throws(Reading.Failure) in
                try stored(address, options)
            }
            guard sums.launches > 0 else {
                throw Reading.Failure(
                    "\(address): no recording of these programs was shipped there")
            }
            let summary: TopSummary = try TopReading.attempt { () throws(TopError) in
                try TopSummary(sums)
            }
            return timings.measure("printing") { () -> [UInt8] in
                render(summary, [], options, console)
            }
        }
        if options.showsTimings { timings.print(to: console) }
        return status
    }

    private static func stored(
        _ address: StoreAddress, _ options: TopOptions
    ) throws(Reading.Failure) -> TopSums {
        var phase: String?
        if let wanted = options.phase {
            let names = try StoreAccess.asked(address) { store throws(StoreError) in
                try store.phases(of: options.paths)
            }
            phase = try TopReading.attempt { () throws(TopError) in
                try TopSums.phase(named: wanted, in: names)
            }
        }
        let found = try StoreAccess.asked(address) { store throws(StoreError) in
            try store.top(of: options.paths, phase: phase)
        }
        return TopSums(found, phase: phase)
    }

    private static func render(
        _ summary: TopSummary, _ leftOut: [(path: String, reason: String)],
        _ options: TopOptions, _ console: Console
    ) -> [UInt8] {
        switch options.format {
        case .json: return Array(TopReport.json(summary, leftOut: leftOut).utf8)
        case .text:
            var text = TextOptions(for: Output.terminal(for: options.output, console))
            text.depth = options.depth
            return console.bytes(TopReport.text(summary, options: text), for: options.output)
        }
    }
}

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

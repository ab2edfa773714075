package import Launching
package import ProfileModel
import Readiness
import Sampler

/// How to treat a program that still runs when its recording ends.
package enum AfterRecording: String, CaseIterable, Sendable {
    /// It runs on, and we wait for its end.
    case keep
    /// It gets a SIGTERM, and we wait for its end.
    case stop
}

/// The options of `record` and `attach`.
package struct RecordOptions: Hashable, Sendable {
    package enum Target: Hashable, Sendable {
        /// The program as the user named it, and its arguments.
        case launch([CommandWord])
        case attach(pid: Int32)
        /// The next process that executes a program of this name.
        case await(ProgramName)
    }

    package static let defaultOutput = "launch.firstlight"

    package var target: Target
    /// The path of the recording.
    package var output: String
    /// Ticks per second.
    package var frequency: Int32
    /// nil: until the program ends.
    package var duration: TimeSpan?
    /// How much of the end is kept; nil: everything.
    package var last: TimeSpan?
    package var capture: CaptureMethod
    /// How many bytes of a stack are copied at most.
    package var stackBytes: Int
    package var engine: UnwindEngine
    package var followsChildren: Bool
    package var asksScheduler: Bool
    /// The runtime that is asked to report where its functions are; nil: none.
    package var runtime: RequestedRuntime?
    /// True to use, and extend, earlier results of symbolication on disk.
    package var usesSymbolCache: Bool
    /// As given by the user; nil: the machine's own.
    package var network: String?
    package var disk: String?
    /// When the launch is over.
    package var end: LaunchEndOptions
    /// Places in the program to record that it does not report itself.
    package var marks: [MarkRequest]
    /// nil: depends on why the recording ended.
    package var after: AfterRecording?
    /// True to leave out the summary.
    package var isQuiet: Bool
    /// True to show progress even on the program's own terminal.
    package var forcesProgress: Bool

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        target = try Self.target(arguments)
        output = arguments.text(.output) ?? Self.defaultOutput
        frequency = Int32(clamping: arguments.integer(.frequency) ?? 1_000)
        duration = arguments.duration(.duration)
        last = arguments.duration(.last)
        capture = arguments.text(.capture).flatMap(CaptureMethod.init) ?? .untraced
        stackBytes = arguments.integer(.stackBytes) ?? SamplerOptions.usualStackBytes
        engine = arguments.text(.unwinder).flatMap(UnwindEngine.init) ?? .quick
        followsChildren = arguments.isGiven(.followChildren)
        asksScheduler = arguments.text(.switches) != "off"
        runtime = arguments.text(.runtime).flatMap(RequestedRuntime.init)
        usesSymbolCache = arguments.text(.symbolCache) != "off"
        network = arguments.text(.network)
        disk = arguments.text(.disk)
        marks = try Self.marks(arguments)
        end = try LaunchEndOptions(arguments)
        after = arguments.text(.after).flatMap(AfterRecording.init)
        isQuiet = arguments.isGiven(.quiet)
        forcesProgress = arguments.isGiven(.progress)
        try checkMarks(arguments.subcommand)
        try checkLast(arguments.subcommand)
        if isQuiet && forcesProgress {
            throw UsageError(arguments.subcommand, "--quiet and --progress do not go together")
        }
    }

    /// Each mark has a different name.
    private static func marks(_ arguments: ParsedArguments) throws(UsageError) -> [MarkRequest] {
        var marks: [MarkRequest] = []
        for text in arguments.texts(.mark) {
            guard let mark = MarkArgument.parse(text) else {
                throw UsageError(
                    arguments.subcommand, "invalid mark '\(text)': it " + MarkArgument.expectation)
            }
            guard !marks.contains(where: { $0.name == mark.name }) else {
                throw UsageError(arguments.subcommand, "two marks are called '\(mark.name)'")
            }
            marks.append(mark)
        }
        guard marks.count <= mostMarks else {
            throw UsageError(arguments.subcommand, "more than \(mostMarks) marks")
        }
        return marks
    }

    private static let mostMarks = 256

    private func checkMarks(_ subcommand: Subcommand) throws(UsageError) {
        for case .mark(let name) in end.until where !marks.contains(where: { $0.name == name }) {
            throw UsageError(
                subcommand, "--until mark:\(name) needs the mark: --mark \(name)=SYMBOL")
        }
        guard !marks.isEmpty else { return }
        if followsChildren {
            throw UsageError(subcommand, "--mark and --follow-children do not go together")
        }
        if capture == .ptrace {
            throw UsageError(subcommand, "--mark and --capture ptrace do not go together")
        }
    }

    private func checkLast(_ subcommand: Subcommand) throws(UsageError) {
        guard let last else { return }
        guard last >= .milliseconds(1_000) else {
            throw UsageError(subcommand, "--last keeps one second or more: --last 1s")
        }
    }

    private static func target(_ arguments: ParsedArguments) throws(UsageError) -> Target {
        if let name = arguments.text(.wait) { return .await(try programName(name)) }
        guard let first = arguments.operands.first else {
            throw UsageError(arguments.subcommand, "nothing to record")
        }
        guard arguments.subcommand == .attach else {
            return .launch(arguments.program)
        }
        guard first.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let pid = Int32(first), pid > 0 else {
            throw UsageError(
                .attach,
                "invalid process id '\(first)': it must be a whole number; to wait for a program's "
                    + "start, use --wait NAME")
        }
        return .attach(pid: pid)
    }

    private static func programName(_ text: String) throws(UsageError) -> ProgramName {
        guard let name = ProgramName(text) else {
            throw UsageError(
                .attach, "invalid wait '\(text)': it must be a file's name, without its folder")
        }
        return name
    }
}

extension ParsedArguments {
    package func isGiven(_ name: OptionName) -> Bool { options[name] != nil }

    /// The long names of the given options among these, in the order of the help.
    func given(of names: Set<OptionName>) -> [String] {
        OptionTable.options(of: subcommand)
            .filter { names.contains($0.name) && isGiven($0.name) }.map(\.long)
    }

    package func text(_ name: OptionName) -> String? {
        guard case .text(let value) = options[name] else { return nil }
        return value
    }

    /// The values of an option that may be repeated.
    package func texts(_ name: OptionName) -> [String] {
        (lists[name] ?? []).compactMap { value in
            guard case .text(let text) = value else { return nil }
            return text
        }
    }

    package func integer(_ name: OptionName) -> Int? {
        guard case .integer(let value) = options[name] else { return nil }
        return value
    }

    package func percent(_ name: OptionName) -> Double? {
        guard case .percent(let value) = options[name] else { return nil }
        return value
    }

    package func duration(_ name: OptionName) -> TimeSpan? {
        guard case .duration(let value) = options[name] else { return nil }
        return value
    }
}

/// Marks in the form of `--mark`: `load=loadStars`, `parse=ns::Parser::run..`,
/// `gc=usdt:ruby:gc__begin`.
package enum MarkArgument {
    /// The limit of a signpost's name, in bytes.
    private static let longestName = 128
    private static let longestPlace = 4096

    /// The valid forms, for error messages.
    package static let expectation =
        "must be NAME=SYMBOL, NAME=SYMBOL.. or NAME=usdt:PROVIDER:PROBE, and NAME no longer than "
        + "128 bytes"

    /// nil if `text` is not a mark.
    package static func parse(_ text: String) -> MarkRequest? {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, 1...longestName ~= parts[0].utf8.count,
            1...longestPlace ~= parts[1].utf8.count,
            let place = parts[1].hasPrefix("usdt:") ? probe(parts[1]) : function(parts[1])
        else { return nil }
        return MarkRequest(name: String(parts[0]), place: place)
    }

    private static func probe(_ text: Substring) -> MarkRequest.Place? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[1].isEmpty, !parts[2].isEmpty else { return nil }
        return .probe(provider: String(parts[1]), name: String(parts[2]))
    }

    private static func function(_ text: Substring) -> MarkRequest.Place? {
        let isSpan = text.hasSuffix("..")
        let whole = isSpan ? text.dropLast(2) : text
        let parts = whole.split(separator: "!", maxSplits: 1, omittingEmptySubsequences: false)
        // A library's name has a dot; in `operator!`, none comes before the `!`.
        let isOfLibrary = parts.count == 2 && !parts[0].contains("operator")
        let name = isOfLibrary ? parts[1] : whole
        guard !name.isEmpty, !name.hasSuffix("."), !isOfLibrary || !parts[0].isEmpty else {
            return nil
        }
        return .function(
            String(name), library: isOfLibrary ? String(parts[0]) : nil, isSpan: isSpan)
    }
}

/// A language's runtime that is asked to report where its functions are. This changes the program,
/// so it is done only on request.
package enum RequestedRuntime: String, CaseIterable, Sendable {
    case node
}

import Analysis
import ClickHouse
import Exports
import Report

/// `firstlight compare` of two versions in a store.
enum VersionComparing {
    /// Prints the comparison, and returns the exit status.
    static func run(_ options: VersionCompareOptions, _ console: Console) -> Int32 {
        var timings = Timings()
        let status = Output.write(to: options.output, console) { () throws(Reading.Failure) in
            let report = try timings.measure("asking") { () throws(Reading.Failure) in
                try asked(options)
            }
            return timings.measure("printing") { render(report, options, console) }
        }
        if options.showsTimings { timings.print(to: console) }
        return status
    }

    private static func asked(
        _ options: VersionCompareOptions
    ) throws(Reading.Failure) -> VersionComparisonReport {
        let request = try named(options)
        let members = try StoreAccess.asked(options.store) { store throws(StoreError) in
            try store.members(of: request)
        }
        let pairs = try pairs(members, request)
        let comparisons = try StoreAccess.asked(options.store) {
            store throws(StoreError) -> [VersionComparison] in
            var found: [VersionComparison] = []
            for pair in pairs.pairs {
                if let one = try store.comparison(of: pair, request) { found.append(one) }
            }
            return found
        }
        guard !comparisons.isEmpty else {
            throw Reading.Failure(
                Console.oneLine("\(words(request)): one of them has no launches any more"))
        }
        return VersionComparisonReport(request, comparisons, of: pairs)
    }

    /// With the versions' full names.
    private static func named(
        _ options: VersionCompareOptions
    ) throws(Reading.Failure) -> VersionRequest {
        var request = options.request
        request.before = try name(request.before, options)
        request.after = try name(request.after, options)
        guard request.before != request.after else {
            throw Reading.Failure(
                Console.oneLine("compare: both versions are \(request.after.escapedForDisplay)"))
        }
        return request
    }

    private static func name(
        _ text: String, _ options: VersionCompareOptions
    ) throws(Reading.Failure) -> String {
        let program = options.request.program
        let found = try StoreAccess.asked(options.store) { store throws(StoreError) in
            try store.versions(of: program, beginning: text)
        }
        do throws(VersionName.Problem) {
            return try VersionName.chosen(text, of: found)
        } catch {
            throw Reading.Failure(
                Console.oneLine(
                    "\(options.store): \(program.escapedForDisplay): "
                        + VersionComparisonReport.text(error)))
        }
    }

    private static func pairs(
        _ members: [VersionPairs.Member], _ request: VersionRequest
    ) throws(Reading.Failure) -> VersionPairs {
        do throws(VersionPairs.Refusal) {
            return try VersionPairs(members)
        } catch {
            throw Reading.Failure(
                Console.oneLine("\(words(request)): " + VersionComparisonReport.text(error)))
        }
    }

    private static func words(_ request: VersionRequest) -> String {
        "compare: \(request.program) \(request.before) and \(request.after)"
    }

    private static func render(
        _ report: VersionComparisonReport, _ options: VersionCompareOptions, _ console: Console
    ) -> [UInt8] {
        switch options.format {
        case .json: return Array(report.json().utf8)
        case .text:
            let text = TextOptions(for: Output.terminal(for: options.output, console))
            return console.bytes(report.text(options: text), for: options.output)
        }
    }
}

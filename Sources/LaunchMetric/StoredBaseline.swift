import Foundation

/// A stored measurement that serves as a baseline.
struct StoredBaseline: Sendable {
    let document: MeasurementDocument

    init(_ document: MeasurementDocument) { self.document = document }

    /// The command that launches its program again, to take turns; nil: the program is gone, was
    /// changed since, or is the measured one itself.
    func command(besides program: String) -> [String]? {
        let path = document.program.path
        guard let changed = Self.changeDate(of: path),
            changed <= TimeInterval(document.measurement.dateNs) / 1e9,
            Self.resolved(path) != Self.resolved(Self.found(program))
        else { return nil }
        return [path] + document.program.arguments.dropFirst()
    }

    /// Throws if the figures cannot be compared.
    func checkConditions(of new: MeasurementDocument) throws(LaunchMetricError) {
        let (then, now) = (document.conditions, new.conditions)
        let pairs = [
            ("cache", then.cache, now.cache),
            ("files removed from the cache", then.dropped ?? "nothing", now.dropped ?? "nothing"),
            ("network", then.network ?? "own", now.network ?? "own"),
            ("disk", Self.rate(then.disk), Self.rate(now.disk)),
            ("until", Self.list(then.until), Self.list(now.until)),
        ]
        for (name, old, current) in pairs where old != current {
            throw .notComparable(
                "the baseline was measured under another condition: \(name) was \(old), now it "
                    + "is \(current)")
        }
    }

    /// Why its figures cannot decide anything; nil: they can.
    func doubt(on machine: MeasurementDocument.Machine) -> String? {
        let then = document.machine
        if then.host != machine.host {
            return "the baseline is from another machine (\(then.host)), and its program is gone"
        }
        if then.kernel != machine.kernel {
            return "the baseline is from another kernel (\(then.kernel)), and its program is gone"
        }
        guard let boot = then.boot, boot == machine.boot else {
            return "the machine has restarted since the baseline was measured, and the baseline's "
                + "program is gone"
        }
        return nil
    }

    private static func rate(_ rate: Int64?) -> String { rate.map { "\($0) bytes/s" } ?? "own" }

    private static func list(_ conditions: [String]?) -> String {
        let others = (conditions ?? []).filter { $0 != "exit" }.sorted()
        return others.isEmpty ? "exit" : others.joined(separator: ", ")
    }

    private static func changeDate(of path: String) -> TimeInterval? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: resolved(path))
        return (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970
    }

    private static func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }

    /// The path from which a program with that name is run.
    private static func found(_ name: String) -> String {
        guard !name.contains("/") else { return name }
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) } ?? name
    }
}

import Analysis
import Exports
import ProfileModel

/// The figures of all launches together.
extension MeasurementJSON {
    static func summary(_ arm: ArmSummary?, _ writer: inout JSONWriter) {
        guard let arm else { return writer.value(String?.none) }
        writer.object { writer in
            writer.field("launches", arm.launches)
            writer.key("discarded")
            writer.object { writer in
                for reason in MeasuredLaunch.Discard.allCases {
                    guard let count = arm.discarded[reason], count > 0 else { continue }
                    writer.field(reason.rawValue, count)
                }
            }
            times("wall", arm.wall, &writer)
            writer.key("phases")
            writer.array(arm.phases) { writer, phase in
                writer.object { writer in
                    writer.field("name", phase.name)
                    times("wall", phase.wall, &writer)
                    times("cpu", phase.cpu, &writer)
                }
            }
            writer.key("processes")
            writer.array(arm.processes) { writer, process in
                writer.object { writer in
                    writer.field("name", process.name)
                    counts("count", process.count, &writer)
                    times("wall", process.wall, &writer)
                    times("cpu", process.cpu, &writer)
                }
            }
            times("cpu", arm.cpu, &writer)
            times("mainBlocked", arm.mainBlocked, &writer)
            counts("minorFaults", arm.minorFaults, &writer)
            counts("majorFaults", arm.majorFaults, &writer)
            counts("readBytes", arm.readBytes, &writer)
            writer.key("disturbances")
            writer.array(arm.disturbances) { disturbance($1, &$0) }
        }
    }

    private static func times(
        _ name: String, _ found: Distribution?, _ writer: inout JSONWriter
    ) {
        distribution(name, found, suffix: "Ns", &writer) { $0.rounded($1) }
    }

    /// For counts, whose median may be between two of them.
    private static func counts(
        _ name: String, _ found: Distribution?, _ writer: inout JSONWriter
    ) {
        distribution(name, found, suffix: "", &writer) { $0.decimal($1, digits: 1) }
    }

    private static func distribution(
        _ name: String, _ found: Distribution?, suffix: String, _ writer: inout JSONWriter,
        _ write: (inout JSONWriter, Double?) -> Void
    ) {
        writer.key(name)
        guard let found else { return writer.value(String?.none) }
        let values: [(name: String, value: Double?)] = [
            ("median", found.median), ("low", found.interval?.low),
            ("high", found.interval?.high), ("p90", found.percentile90),
            ("min", found.minimum), ("max", found.maximum),
        ]
        writer.object { writer in
            writer.field("n", found.count)
            for (name, value) in values {
                writer.key(name + suffix)
                write(&writer, value)
            }
            writer.key("confidence")
            writer.decimal(found.interval?.confidence, digits: 6)
        }
    }

    private static func disturbance(_ found: Disturbance, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("kind", DisturbanceWords.kind(found))
            switch found {
            case .otherWork(let share, let launches), .stolen(let share, let launches):
                writer.key("share")
                writer.decimal(share, digits: 6)
                writer.field("launches", launches)
            case .frequency(let lowest, let highest):
                writer.field("lowestKHz", lowest)
                writer.field("highestKHz", highest)
            case .drift(let share):
                writer.key("share")
                writer.decimal(share, digits: 6)
            case .bimodal(let lower, let lowerCount, let upper, let upperCount):
                writer.key("lowerNs")
                writer.rounded(lower)
                writer.field("lowerLaunches", lowerCount)
                writer.key("upperNs")
                writer.rounded(upper)
                writer.field("upperLaunches", upperCount)
            case .outliers(let places):
                writer.key("orders")
                writer.array(places) { $0.value($1) }
            case .readFromDisk(let launches):
                writer.field("launches", launches)
            }
        }
    }

    func comparison(_ writer: inout JSONWriter) {
        guard let found = summary.comparison else { return writer.value(String?.none) }
        Self.comparison(found, ArmNames(measurement.arms), &writer)
    }

    static func comparison(_ found: Comparison, _ names: ArmNames, _ writer: inout JSONWriter) {
        let shares: [(String, Double?)] = [
            ("change", found.change), ("low", found.low), ("high", found.high),
            ("confidence", found.confidence), ("detectable", found.detectable),
        ]
        let times: [(String, Double)] = [
            ("differenceNs", found.difference), ("differenceLowNs", found.differenceLow),
            ("differenceHighNs", found.differenceHigh),
        ]
        let words = ComparisonWords(comparison: found, names: names)
        writer.object { writer in
            writer.field("verdict", found.verdict.rawValue)
            writer.field("text", words.verdict)
            writer.field("pairs", found.pairs)
            for (name, share) in shares {
                writer.key(name)
                writer.decimal(share, digits: 6)
            }
            for (name, time) in times {
                writer.key(name)
                writer.rounded(time)
            }
        }
    }
}

extension JSONWriter {
    /// The nearest whole number; null for nil, and if it is not a number.
    mutating func rounded(_ number: Double?) { decimal(number, digits: 0) }

    /// A number with up to `digits` decimals; null for nil, and if it is not a number.
    mutating func decimal(_ number: Double?, digits: Int) {
        guard let number, number.isFinite else { return value(String?.none) }
        let scaled = (0..<digits).reduce(number) { product, _ in product * 10 }
        // Larger figures have no meaning here, and a conversion would trap.
        let size = Int64(min(scaled.magnitude, 9e18) + 0.5)
        decimal(number < 0 ? -size : size, digits: digits)
    }
}

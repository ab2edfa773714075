import Analysis
import Exports

/// Figures of two measurements that did not take turns.
enum UnpairedWords {
    /// "+5.2 % (+2.1 % to +8.4 %), +18.30 ms a launch (+7.000 ms to +29.90 ms); 20 launches and 10
    /// before, each bound 99 % sure"
    static func figures(_ found: UnpairedDifference) -> String {
        let change = found.change.map { "\(Self.change($0)), " } ?? ""
        let counts = found.counts.map { Numbers.grouped($0) }
        return change + "\(time(found.difference)); "
            + "\(counts.first ?? "0") launches, and \(counts.last ?? "0") before, each bound "
            + "\(Numbers.confidence(found.difference.confidence)) sure"
    }

    /// "+5.2 % (+2.1 % to +8.4 %)"
    static func change(_ bounds: UnpairedDifference.Bounds) -> String {
        "\(Numbers.change(bounds.value)) (\(Numbers.change(bounds.low)) to "
            + "\(Numbers.change(bounds.high)))"
    }

    private static func time(_ bounds: UnpairedDifference.Bounds) -> String {
        "\(Quantity.time.signed(bounds.value)) a launch (\(Quantity.time.signed(bounds.low)) to "
            + "\(Quantity.time.signed(bounds.high)))"
    }
}

/// The same for programs.
enum UnpairedJSON {
    static func write(_ found: UnpairedDifference?, _ writer: inout JSONWriter) {
        guard let found else { return writer.value(String?.none) }
        writer.object { writer in
            writer.field("launches", found.counts.first)
            writer.field("launchesBefore", found.counts.last)
            let times: [(String, Double)] = [
                ("medianNs", found.median), ("medianBeforeNs", found.medianBefore),
                ("differenceNs", found.difference.value),
                ("differenceLowNs", found.difference.low),
                ("differenceHighNs", found.difference.high),
            ]
            for (name, time) in times {
                writer.key(name)
                writer.rounded(time)
            }
            let shares: [(String, Double?)] = [
                ("change", found.change?.value), ("low", found.change?.low),
                ("high", found.change?.high), ("confidence", found.difference.confidence),
            ]
            for (name, share) in shares {
                writer.key(name)
                writer.decimal(share, digits: 6)
            }
        }
    }
}

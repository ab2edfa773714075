import ProfileModel

/// Launches of two arms that took turns, in pairs.
enum LaunchPairs {
    /// The walls of both launches of each pair that counts, in nanoseconds: of arm 0 and of arm 1.
    static func walls(of launches: [MeasuredLaunch]) -> [(Double, Double)] {
        pairs(of: launches).map { ($0.0.wall.value, $0.1.wall.value) }
    }

    /// Both launches of each pair that counts: of arm 0 and of arm 1.
    ///
    /// A pair is a launch and the next one of the other arm. The first launches, which are
    /// discarded, take no part. If one launch of a pair does not count, neither does the other,
    /// because the replacement ran at another time. If two in a row are of the same arm (one was
    /// repeated), the later one is paired.
    static func pairs(of launches: [MeasuredLaunch]) -> [(MeasuredLaunch, MeasuredLaunch)] {
        var pairs: [(MeasuredLaunch, MeasuredLaunch)] = []
        var waiting: MeasuredLaunch?
        for launch in launches where launch.discarded != .first && (0...1).contains(launch.arm) {
            guard let partner = waiting, partner.arm != launch.arm else {
                waiting = launch
                continue
            }
            waiting = nil
            let pair = launch.arm == 0 ? (launch, partner) : (partner, launch)
            if pair.0.counts, pair.1.counts { pairs.append(pair) }
        }
        return pairs
    }
}

extension MeasuredLaunch {
    /// A wall time of 0 or less is not valid: it has no ratio.
    fileprivate var counts: Bool { discarded == nil && wall > .zero }
}

package import ProfileModel

/// Counts and nothing else, until the statistics are there: then this file goes.
extension MeasurementSummary {
    package init(of measurement: Measurement) {
        arms = measurement.arms.indices.map { arm in
            let launches = measurement.launches.filter { $0.arm == arm }
            let discarded = launches.compactMap(\.discarded)
            return ArmSummary(
                launches: launches.count - discarded.count,
                discarded: Dictionary(discarded.map { ($0, 1) }, uniquingKeysWith: +), wall: nil,
                phases: [], cpu: nil, mainBlocked: nil, minorFaults: nil, majorFaults: nil,
                readBytes: nil, disturbances: [])
        }
        comparison = nil
    }
}

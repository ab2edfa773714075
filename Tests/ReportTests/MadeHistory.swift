import MadeRecordings
import ProfileModel
import Report

@testable import Analysis

/// Histories made up.
enum MadeHistory {
    private static let day: Int64 = 86_400_000_000_000

    /// Twelve versions, each measured every five days; from the eighth on Main takes 30 % more, and the
    /// fourth was measured twice.
    static func measurements(launches: Int = 20) -> [Measurement] {
        (0..<13).map { number in
            let version = number < 4 ? number : number - 1
            var made = MadeMeasurement.measurement(launches: launches, seed: UInt64(number + 1))
            made.header.versionName = "1.\(version)"
            made.header.date = (20_400 + Int64(number) * 5) * day
            if version >= 7 {
                for index in made.launches.indices {
                    let last = made.launches[index].phases.count - 1
                    let more = TimeSpan.milliseconds(12)
                    made.launches[index].phases[last].wall =
                        made.launches[index].phases[last].wall + more
                    made.launches[index].wall = made.launches[index].wall + more
                }
            }
            return made
        }
    }

    static func history(
        _ measurements: [Measurement] = measurements(),
        by grouping: LaunchHistory.Grouping = .version,
        goal: TimeSpan? = nil
    ) -> LaunchHistory {
        var builder = HistoryBuilder()
        for (number, measurement) in measurements.enumerated() {
            builder.add(measurement, file: "kept/\(number).firstlight")
        }
        return builder.history(by: grouping, goal: goal)
    }

    static var whole: LaunchHistory { history(goal: .milliseconds(45)) }

    /// Two series, and something that could not be read.
    static var several: LaunchHistory {
        let cold = measurements().prefix(3).map { measurement in
            var cold = measurement
            cold.conditions.cache = .cold
            return cold
        }
        var builder = HistoryBuilder()
        for (number, measurement) in (measurements() + cold).enumerated() {
            builder.add(measurement, file: "\(number)")
        }
        builder.leaveOut("kept/broken.firstlight", because: "is damaged: launches: row 3")
        return builder.history(by: .version)
    }

    /// Names that contain markup or control characters.
    static var hostile: LaunchHistory {
        let names = [
            "\u{1b}[31mred\u{1b}[0m", "<img src=x onerror=alert(1)>", "\" onload='alert(1)", "a\nb",
            "\u{202e}evil", String(repeating: "v", count: 5_000), "", "</script><script>",
        ]
        let made = names.enumerated().map { number, name in
            var made = MadeMeasurement.hostile()
            made.header.versionName = name
            made.header.date = Int64(number) * day
            return made
        }
        var builder = HistoryBuilder()
        for measurement in made { builder.add(measurement, file: "<b>\u{1b}") }
        builder.leaveOut("<script>\u{1b}", because: "<img>\u{202e}")
        return builder.history(by: .version, goal: .milliseconds(1))
    }

    static var single: LaunchHistory { history(Array(measurements(launches: 4).prefix(1))) }

    /// More than any user measures.
    static var long: LaunchHistory {
        var one = MadeMeasurement.measurement(launches: 3)
        return history(
            (0..<900).map { number in
                one.header.versionName = "v\(number)"
                one.header.date = Int64(number) * day
                for index in one.launches.indices {
                    one.launches[index].phases = []
                    one.launches[index].wall = .milliseconds(
                        (number / 300 == 1 ? 60 : 50) + Int64(number % 3))
                }
                return one
            })
    }
}

import Analysis
import Exports
import ProfileModel

/// A measurement in the form that the page's parts use.
struct PageModel: Sendable {
    let measurement: Measurement
    let summary: MeasurementSummary
    let names: ArmNames
    let arms: [Arm]
    /// The figures to show, in order.
    let figures: Figures
    /// By index among all launches.
    private let numbers: [Int]

    init(_ measurement: Measurement, _ summary: MeasurementSummary) {
        self.measurement = measurement
        self.summary = summary
        let names = ArmNames(measurement.arms)
        self.names = names
        arms = measurement.arms.indices.map { index in
            Arm(
                index: index, label: names[index],
                summary: summary.arms.indices.contains(index) ? summary.arms[index] : nil,
                counted: measurement.launches.indices.filter {
                    measurement.launches[$0].arm == index
                        && measurement.launches[$0].discarded == nil
                })
        }
        figures = Figures(summary)
        var counts: [Int: Int] = [:]
        numbers = measurement.launches.map { launch in
            counts[launch.arm, default: 0] += 1
            return counts[launch.arm, default: 0]
        }
    }

    struct Arm: Sendable {
        var index: Int
        /// Distinguishes it from the other arm.
        var label: String
        var summary: ArmSummary?
        /// Positions of the launches that count.
        var counted: [Int]

        /// The style sheet's name for its colour.
        var style: String { index == 0 ? "first" : "second" }
    }

    /// The figures that any arm has.
    struct Figures: Sendable {
        /// The launch's phases, in the order of time, at most ``mostPhases``.
        var phases: [String]
        /// How many more phases there are.
        var phasesLeftOut: Int

        init(_ summary: MeasurementSummary) {
            var names: [String] = []
            var known: Set<String> = []
            for phase in summary.arms.flatMap(\.phases) where known.insert(phase.name).inserted {
                names.append(phase.name)
            }
            phases = Array(names.prefix(Self.mostPhases))
            phasesLeftOut = names.count - phases.count
        }

        /// A program may have many marks, but people read the page.
        private static let mostPhases = 60
    }

    /// The values of an arm's launches that count and have the figure, with their positions, in the
    /// order of time.
    func values(_ figure: Figure, of arm: Arm) -> [(launch: Int, value: Double)] {
        arm.counted.compactMap { index in
            figure.value(of: measurement.launches[index]).map { (index, $0) }
        }
    }

    /// A launch's number among those of its arm, as in the text report.
    func number(_ launch: Int) -> String {
        numbers.indices.contains(launch) ? Numbers.grouped(numbers[launch]) : "?"
    }

    /// The same, with the arm if there are two.
    func numberAndArm(_ launch: Int) -> String {
        guard arms.count > 1, measurement.launches.indices.contains(launch) else {
            return number(launch)
        }
        let arm = measurement.launches[launch].arm
        let name = arms.indices.contains(arm) ? arms[arm].label : "?"
        return "\(number(launch)) of \(name)"
    }
}

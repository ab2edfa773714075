import Analysis
import Exports
import ProfileModel

/// The tooltip of a launch.
struct LaunchWords {
    private let model: PageModel

    init(_ model: PageModel) { self.model = model }

    func lines(_ index: Int) -> [String] {
        let launch = model.measurement.launches[index]
        return [
            title(index), Quantity.time.text(Double(launch.wall.nanoseconds)),
            launch.discarded.map { "does not count: \(DiscardWords.text($0))" }, times(launch),
            storage(launch), others(launch),
        ].compactMap { $0 }
    }

    func title(_ index: Int) -> String {
        let arm = model.measurement.launches[index].arm
        let name =
            model.arms.count > 1 && model.arms.indices.contains(arm)
            ? " · \(model.arms[arm].label)" : ""
        return "Launch \(model.number(index))\(name)"
    }

    private func times(_ launch: MeasuredLaunch) -> String? {
        joined([
            launch.cpu.map { "CPU \(Numbers.measured($0))" },
            launch.mainBlocked.map { "main thread blocked \(Numbers.measured($0))" },
        ])
    }

    private func storage(_ launch: MeasuredLaunch) -> String? {
        joined([
            launch.readBytes.map { "read from disks \(Quantity.bytes.text(Double($0)))" },
            launch.majorFaults.map { "major faults \(Numbers.grouped($0))" },
        ])
    }

    private func others(_ launch: MeasuredLaunch) -> String? {
        joined([
            launch.otherWork.map { "other work on the machine \(Numbers.measured($0))" },
            launch.stolen.flatMap { $0 > .zero ? "stolen \(Numbers.measured($0))" : nil },
        ])
    }

    private func joined(_ parts: [String?]) -> String? {
        let known = parts.compactMap { $0 }
        return known.isEmpty ? nil : known.joined(separator: " · ")
    }
}

import Analysis
import Exports
import ProfileModel

/// The modules in the order in which they were seen: the file, its cost, the quality of its
/// symbolication, and how to improve it.
struct ModulesView {
    let profile: Profile
    let options: TextOptions

    func render() -> String {
        let missing = Array(profile.modulesWorthMending.prefix(options.depth ?? .max))
        let remarks = profile.modules.filter { module in
            !ModuleWords(module).remarks.isEmpty && !missing.contains { $0.path == module.path }
        }
        var blocks = [legend.wrapped(to: options.columns) + table()]
        if !missing.isEmpty {
            blocks.append(title("What is missing") + missing.map(block).joined())
        }
        if !remarks.isEmpty {
            let lines = remarks.map { sentence($0.path, ModuleWords($0).remarks) }
            blocks.append(title("Remarks") + lines.joined())
        }
        return blocks.joined(separator: "\n")
    }

    private var legend: String {
        "TOTAL is CPU time with the module on the stack, SELF with its code innermost; NAMES and "
            + "LINES: how many of the distinct addresses in stacks have one; DEBUG INFO: how it "
            + "was found (exports only: names of what other modules may use)"
    }

    private func table() -> String {
        var table = TextTable(columns: [
            .init(title: "LOADED", spareRank: 4), .init(title: "SLICES", spareRank: 2),
            .init(title: "TOTAL"), .init(title: "SELF"), .init(title: "NAMES"),
            .init(title: "LINES", spareRank: 0),
            .init(title: "DEBUG INFO", alignment: .left, spareRank: 1),
            .init(title: "  MODULE", alignment: .left, minimum: 24),
            .init(title: "BUILD ID", alignment: .left, spareRank: 3),
        ])
        let times = profile.moduleTimes(options.selection)
        table.rows = zip(profile.modules, times).map(row)
        return table.render(width: options.columns, colour: options.usesColour)
    }

    private func row(_ module: ModuleFigures, _ times: ModuleTimes) -> [TextTable.Cell] {
        var path = TextTable.Cell(
            module.path.escapedForDisplay, style: module.isOwn ? .own : .plain)
        path.prefix = module.isOwn ? "● " : "  "
        let counts = module.addresses
        func share(_ known: Int) -> TextTable.Cell {
            .init(
                counts.all == 0 ? "–" : "\(Numbers.grouped(known))/\(Numbers.grouped(counts.all))")
        }
        return [
            TextTable.Cell(module.loaded.map(Numbers.time) ?? "–"),
            TextTable.Cell(module.slices == 0 ? "–" : Numbers.grouped(module.slices)),
            .init(Numbers.cell(times.total.running)), .init(Numbers.cell(times.own.running)),
            share(counts.named), share(counts.withLine), .init(ModuleWords(module).origin), path,
            TextTable.Cell(module.buildID.hex.shortened(to: 13), style: .dim),
        ]
    }

    private func title(_ text: String) -> String {
        "  " + (options.usesColour ? Style.heading.applied(to: text) : text) + "\n"
    }

    private func block(_ module: ModuleFigures) -> String {
        let words = ModuleWords(module)
        return sentence(module.path, [words.lack] + words.remarks)
            + line("→ " + words.advice(package: options.debugPackages[module.path]))
    }

    private func sentence(_ path: String, _ parts: [String]) -> String {
        "\(path): \(parts.joined(separator: "; "))".escapedForDisplay.wrapped(
            to: options.columns, after: " ", indent: 4)
    }

    private func line(_ text: String) -> String {
        text.escapedForDisplay.wrapped(to: options.columns, after: "   ", indent: 6)
    }
}

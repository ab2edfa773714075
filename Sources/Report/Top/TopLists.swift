import Analysis
import Exports
import ProfileModel

/// A program's functions, waits, initialisers, libraries and processes.
struct TopLists {
    let program: TopProgram
    let options: TextOptions

    /// How many lines a list has by default.
    private static let (mostFunctions, most) = (12, 8)

    func tables() -> [String] {
        [functions, callers, waits, initializers, libraries, processes].compactMap { $0 }
    }

    private func things(_ kind: TopKind) -> [TopThing] { program.things[kind] ?? [] }

    private func cells(of thing: TopThing) -> [TextTable.Cell] {
        FrameCells.cells(thing.function, place: thing.place, options)
    }

    // MARK: Functions

    private var functions: String? {
        let table = TopTable(
            program: program, options: options, caption: "Functions by their own time",
            columns: FrameCells.columns(options), most: Self.mostFunctions,
            more: [.init(title: "with callees", spareRank: 5)])
        return table.render(things(.function), { $0.own }) { thing in
            (cells(of: thing), [thing.figures.total.cell])
        }
    }

    /// Own functions that are heavy through their callees.
    private var callers: String? {
        let own = things(.function).filter(\.function.isOwn)
        let order = own.indices.sorted {
            let (left, right) = (own[$0].figures.sum.total.wall, own[$1].figures.sum.total.wall)
            return left == right ? $0 < $1 : left > right
        }
        let table = TopTable(
            program: program, options: options, caption: "Own code, including what it called",
            columns: FrameCells.columns(options), most: Self.mostFunctions,
            more: [.init(title: "itself", spareRank: 5)])
        return table.render(order.map { own[$0] }, { $0.total }) { thing in
            (cells(of: thing), [thing.figures.own.cell])
        }
    }

    // MARK: Waits

    private var waits: String? {
        let table = TopTable(
            program: program, options: options,
            caption: "The main thread's waits (of 1 ms or longer)",
            columns: [
                .init(title: "", alignment: .left, minimum: 18),
                .init(title: "", alignment: .left, minimum: 24),
            ], most: Self.most, more: [.init(title: "waits", spareRank: 5)])
        return table.render(things(.wait).filter { $0.thread == nil }, { $0.own }) { thing in
            let reason = TextTable.Cell((thing.reason?.words ?? "").escapedForDisplay)
            return ([reason, thing.function.cell()], [.init(thing.figures.perLaunch)])
        }
    }

    // MARK: Initialisers and libraries

    private var initializers: String? {
        let table = TopTable(
            program: program, options: options, caption: "Initialisers (timed, not sampled)",
            columns: FrameCells.columns(options), most: Self.most,
            more: [.init(title: "runs", spareRank: 5)])
        return table.render(things(.initializer), { $0.own }) { thing in
            (cells(of: thing), [.init(thing.figures.perLaunch)])
        }
    }

    private var libraries: String? {
        let table = TopTable(
            program: program, options: options,
            caption: "Libraries: loading (dlopen) or initialising",
            columns: [.init(title: "", alignment: .left, minimum: 28)], most: Self.most,
            more: [.init(title: "not used in", spareRank: 5)])
        return table.render(things(.library), { $0.own }) { thing in
            var name = thing.function.cell()
            name.isFunction = false
            let unused = thing.figures.unused
            return ([name], [.init(unused == 0 ? "–" : Numbers.grouped(unused))])
        }
    }

    // MARK: Processes

    private var processes: String? {
        let table = TopTable(
            program: program, options: options,
            caption: "Processes that it started (--follow-children), from fork to end",
            columns: [.init(title: "", alignment: .left, minimum: 28)], most: Self.most,
            more: [.init(title: "CPU", spareRank: 5), .init(title: "processes", spareRank: 6)])
        return table.render(things(.process), { $0.own }) { thing in
            var name = thing.function.cell()
            name.isFunction = false
            let (cpu, launches) = (thing.figures.sum.total.cpu, thing.figures.launches)
            let mean = cpu.nanoseconds / Int64(max(1, launches))
            return (
                [name],
                [
                    .init(Numbers.cell(TimeSpan(nanoseconds: mean))),
                    .init(thing.figures.perLaunch),
                ]
            )
        }
    }
}

extension TopFigures {
    /// The mean number of occurrences per launch: "1", "2.4".
    fileprivate var perLaunch: String {
        guard launches > 0, sum.count > 0 else { return "–" }
        let mean = Double(sum.count) / Double(launches)
        let tenths = Numbers.nearest(min(mean, 1e12) * 10)
        if tenths == 0 { return "< 0.1" }
        return tenths.isMultiple(of: 10)
            ? Numbers.grouped(tenths / 10) : Numbers.decimal(tenths, decimals: 1)
    }
}

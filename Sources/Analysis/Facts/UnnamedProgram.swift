package import ProfileModel

/// A program with names for hardly any of its functions: its file is stripped, and no other file
/// with the names was found. The library functions that it called tell what it did. Where one call
/// had half of the time, that call is the answer, and names would add little.
package struct UnnamedProgram: Hashable, Sendable {
    package struct Call: Hashable, Sendable {
        /// A library's function, or the library where that has no name.
        package var name: String
        /// CPU time, with all its callees.
        package var time: TimeSpan
    }

    /// In the profile's list.
    package var module: Int
    /// CPU time of the main thread in the program's own code.
    package var own: TimeSpan
    /// CPU time of the main thread in the functions that this code called, most first.
    package var calls: [Call]

    /// The largest share of the addresses in stacks that may have names: with more, some way
    /// through the program can be shown.
    fileprivate static let mostNamed = 0.1
    /// The least share of the launch's CPU time spent in the program's code and its callees.
    fileprivate static let leastShare = 0.5
}

extension Profile {
    /// nil: the program's functions have names, or the launch's CPU time was spent elsewhere.
    package var unnamedProgram: UnnamedProgram? {
        guard let index = programModule?.rawValue, modules.indices.contains(index) else {
            return nil
        }
        let counts = modules[index].addresses
        guard modules[index].isFile, counts.all > 0,
            Double(counts.named) <= UnnamedProgram.mostNamed * Double(counts.all)
        else { return nil }
        let totals = PathTotals(
            of: self, in: Selection(isOfMainThread: true), weight: .cpu)
        var own = TimeSpan.zero
        var calls: [String: TimeSpan] = [:]
        for path in paths.paths.indices where totals.own[path].running > .zero {
            let time = totals.own[path].running
            switch call(path, of: index) {
            case .own?: own = own + time
            case .library(let name)?: calls[name] = (calls[name] ?? .zero) + time
            case nil: break
            }
        }
        let whole = calls.values.reduce(own, +)
        let most = calls.values.max() ?? .zero
        guard most.nanoseconds * 2 < whole.nanoseconds,
            Double(whole.nanoseconds) >= UnnamedProgram.leastShare
                * Double(times(in: .all).running.nanoseconds)
        else { return nil }
        return UnnamedProgram(
            module: index, own: own,
            calls: calls.map { UnnamedProgram.Call(name: $0.key, time: $0.value) }
                .sorted { ($1.time, $0.name) < ($0.time, $1.name) })
    }

    private enum Callee {
        case own
        case library(String)
    }

    /// The library function that the module's innermost function called on a path; nil: none is on
    /// it.
    private func call(_ path: Int, of module: Int) -> Callee? {
        var inner: Function?
        var current = Int32(truncatingIfNeeded: path)
        while current != PathTable.none {
            let entry = paths.paths[Int(current)]
            let function = frames[entry.function]
            if function.moduleIndex?.rawValue == module {
                guard let inner else { return .own }
                return .library(inner.isUnnamed ? inner.module : inner.name)
            }
            inner = function
            current = entry.parent
        }
        return nil
    }
}

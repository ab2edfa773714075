package import ProfileModel

/// A program of whose functions hardly one has a name: its file is stripped, and nothing was found that
/// would have them. What it called in libraries tells what it did. Where one call had half of the time, that call
/// is the answer, and names would add little.
package struct UnnamedProgram: Hashable, Sendable {
    package struct Call: Hashable, Sendable {
        /// A library's function, or the library where that has no name.
        package var name: String
        /// CPU time, with all that it called.
        package var time: TimeSpan
    }

    /// In the profile's list.
    package var module: Int
    /// What the main thread computed in the program's own code.
    package var own: TimeSpan
    /// What it computed in what that code called, most first.
    package var calls: [Call]

    /// Of the addresses in stacks: where more have a name, some way through the program can be shown.
    fileprivate static let mostNamed = 0.1
    /// Of the launch's CPU time, in the program's code and what that called.
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

    /// What the innermost function of a module's called on a path; nil: none is on it.
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

import Analysis
import Exports
import ProfileModel

/// The libraries in the order of loading: their cost, the file or function that requested them, and
/// whether they were needed.
struct LibrariesView {
    let profile: Profile
    let options: TextOptions

    func render() -> String {
        let libraries = profile.libraries.filter {
            profile.includes(
                options.selection, from: $0.start, to: $0.start + ($0.wall ?? .zero), thread: nil)
        }
        guard !libraries.isEmpty else {
            let text =
                "no libraries were seen here: the program needs none, or their loading could not "
                + "be watched in this recording"
            return text.wrapped(to: options.columns)
        }
        let shown = libraries.prefix(options.depth ?? .max)
        var blocks = [
            figures(libraries).wrapped(to: options.columns), table(Array(shown)),
        ]
        if shown.contains(where: { $0.used == nil }) {
            let text =
                "? means unknown: no stack was taken after it was loaded, a fifth of the looks or more "
                + "is missing, its code was never seen mapped, or initialisers were not watched and "
                + "could be mistaken for use"
            blocks[1] += text.wrapped(to: options.columns)
        }
        let unused = libraries.filter { $0.used == false }
        if !unused.isEmpty { blocks.append(unusedTable(unused)) }
        return blocks.joined(separator: "\n")
    }

    private func figures(_ libraries: [LibraryFigures]) -> String {
        let initial = libraries.filter(\.isInitial).count
        let count = Numbers.grouped(libraries.count)
        var text = libraries.count == 1 ? "1 library" : "\(count) libraries"
        text += ", \(Numbers.grouped(initial)) of them at start-up"
        if initial > 0 { text += " (mapped and relocated together: no wall time of their own)" }
        text += "; INIT is the wall time of their initialisers"
        let isCalled = libraries.contains { $0.requestedBy == nil && !$0.caller.isEmpty }
        return isCalled ? text + "; the caller of dlopen is shown with its place" : text
    }

    private func table(_ libraries: [LibraryFigures]) -> String {
        var table = TextTable(columns: [
            .init(title: "START"), .init(title: "WALL"), .init(title: "INIT"),
            .init(title: "SIZE", spareRank: 1), .init(title: "USED", alignment: .left),
            .init(title: "  LIBRARY", alignment: .left, minimum: 20),
            .init(title: "REQUESTED BY", alignment: .left, minimum: 16, spareRank: 2),
        ])
        table.rows = libraries.map { library in
            let used = library.used.map { $0 ? "yes" : "no" } ?? "?"
            return [
                .init(Numbers.time(library.start)),
                .init(library.wall.map(Numbers.time) ?? "–"),
                .init(library.initializers.map(Numbers.time) ?? "–"),
                .init(Numbers.bytes(library.size)), .init(used),
                library.cell(Self.name(of: library.path)), requester(of: library),
            ]
        }
        return table.render(width: options.columns, colour: options.usesColour)
    }

    /// The file name without its folder; ``JSONReport`` and the view of modules have the full path.
    private static func name(of path: String) -> String {
        (path.split(separator: "/").last.map(String.init) ?? path).escapedForDisplay
    }

    /// The library that lists it as needed, or the function that called `dlopen` and its place.
    private func requester(of library: LibraryFigures) -> TextTable.Cell {
        if let path = library.requestedBy { return TextTable.Cell(Self.name(of: path)) }
        guard let frame = callingFrame(library.caller) else { return TextTable.Cell("–") }
        let function = profile.frames.function(of: frame)
        var cell = TextTable.Cell(
            function.name.escapedForDisplay, style: function.isOwn ? .own : .plain)
        cell.isFunction = true
        let place = profile.frames[frame].place
        cell.suffix = place.isEmpty ? " (dlopen)" : " (\(place))"
        return cell
    }

    /// The innermost frame of the program's own code, or else the innermost one outside the dynamic
    /// linker and the C library.
    private func callingFrame(_ stack: [FrameID]) -> FrameID? {
        let functions = stack.map { profile.frames.function(of: $0) }
        let index =
            functions.lastIndex { $0.isOwn }
            ?? functions.lastIndex { function in
                !["ld-", "ld.so", "libc.", "libdl."].contains { function.module.hasPrefix($0) }
            }
        return index.map { stack[$0] }
    }

    /// Whether other files refer to its symbols.
    private static func symbols(of library: LibraryFigures) -> String {
        guard let isReferenced = library.isReferenced else { return "?" }
        if isReferenced { return "needed" }
        // A library that was requested by dlopen is used through dlsym.
        return library.isLinkedForNothing ? "none" : "–"
    }

    private func unusedTable(_ libraries: [LibraryFigures]) -> String {
        let meaning =
            "Loaded, not used in this launch: no stack showed their code after their initialisers "
            + "had run. Code that ran only between two samples was not seen, so it is not proven "
            + "that they are superfluous."
            + (libraries.contains(where: \.isLinkedForNothing)
                ? " If SYMBOLS is none, no other loaded file refers to the library's symbols: it "
                    + "was linked for nothing (--as-needed leaves such libraries out), unless it is "
                    + "there for its initialisers or for dlsym." : "")
        var table = TextTable(columns: [
            .init(title: "INIT"), .init(title: "SIZE"), .init(title: "SYMBOLS", alignment: .left),
            .init(title: "  NOT USED", alignment: .left, minimum: 16),
        ])
        table.rows = libraries.map { library in
            [
                .init(library.initializers.map(Numbers.time) ?? "–"),
                .init(Numbers.bytes(library.size)), .init(Self.symbols(of: library)),
                library.cell(library.path.escapedForDisplay),
            ]
        }
        return meaning.wrapped(to: options.columns)
            + table.render(width: options.columns, colour: options.usesColour)
    }
}

extension LibraryFigures {
    /// Own libraries are marked like own functions.
    fileprivate func cell(_ name: String) -> TextTable.Cell {
        var cell = TextTable.Cell(name, style: isOwn ? .own : .plain)
        cell.prefix = isOwn ? "● " : "  "
        return cell
    }
}

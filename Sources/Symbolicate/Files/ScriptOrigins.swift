package import ProfileModel
internal import Runtimes
internal import System

/// Turns functions of a perf map into functions of scripts. If a script names a readable source
/// map, they become functions of the original scripts that people wrote.
package struct ScriptOrigins {
    /// By the paths by which we reach them.
    private var scripts: [String: Script] = [:]

    /// A script that was compiled from others.
    fileprivate struct Script {
        var map: SourceMap
        var text: [UInt8]
        /// Where each line begins.
        var lines: [Int]
        /// The folder for relative sources.
        var folder: String
    }

    /// Larger scripts, and more than this number, are not searched for a map's name.
    private static let largestScript = 64 << 20
    private static let mostScripts = 4096

    private var looked: Set<String> = []

    package init() {}

    /// Finds the original places of JavaScript functions that were named when the recording was
    /// made.
    ///
    /// - Parameter root: the root directory of the processes with a script (empty: ours); nil: not
    ///   known.
    package mutating func name(_ recording: inout Recording, root: (String) -> String?) {
        guard let node = recording.modules.firstIndex(where: { $0.path == Module.nodePath }) else {
            return
        }
        for (frame, functions) in recording.symbols.frames
        where frame.module == ModuleIndex(node) {
            guard let entry = functions.first?.linkageName,
                let root = NodeFunction(entry).flatMap({ root($0.script) })
            else { continue }
            recording.symbols.frames[frame] = [function(called: entry, below: root)]
        }
    }

    /// - Parameters:
    ///   - entry: the function's entry in the map.
    ///   - root: the process's root directory; empty: ours.
    mutating func function(called entry: String, below root: String) -> SourceFrame {
        guard let function = NodeFunction(entry) else {
            return SourceFrame(function: entry, file: nil, line: nil, isInlined: false)
        }
        if let written = original(of: function, below: root) { return written }
        return SourceFrame(
            function: RecordedText.bounded(function.shownName),
            file: RecordedText.bounded(function.script), line: function.line, isInlined: false)
    }

    private mutating func original(
        of function: NodeFunction, below root: String
    ) -> SourceFrame? {
        guard let script = script(at: function.script, below: root) else { return nil }
        let line = script.line(Int(function.line) - 1)
        guard let place = script.map.place(of: function, text: line) else { return nil }
        let source = script.map.sources[place.source]
        guard !source.isEmpty else { return nil }
        var written = function
        written.name = place.name ?? function.name
        return SourceFrame(
            function: RecordedText.bounded(
                function.isModule ? function.shownName : written.shownName),
            file: RecordedText.bounded(FilePath.joined(script.folder, source)), line: place.line,
            isInlined: false)
    }

    /// nil: the script was not compiled from another one, as far as we know.
    private mutating func script(at path: String, below root: String) -> Script? {
        let place = root + path
        if let known = scripts[place] { return known }
        guard path.hasPrefix("/"), looked.count < Self.mostScripts, looked.insert(place).inserted
        else { return nil }
        guard let text = try? WholeFile.bytes(ofRegular: place, limit: Self.largestScript),
            let link = SourceMapLink(script: text)
        else { return nil }
        var folder = FilePath.folder(of: path)
        let json: [UInt8]?
        switch link {
        case .inline(let map): json = map
        case .file(let name):
            let file = FilePath.joined(folder, name)
            folder = FilePath.folder(of: file)
            json = try? WholeFile.bytes(ofRegular: root + file, limit: SourceMap.largest)
        }
        guard let json, let map = SourceMap(json) else { return nil }
        let script = Script(map: map, text: text, folder: folder)
        scripts[place] = script
        return script
    }
}

extension ScriptOrigins.Script {
    fileprivate init(map: SourceMap, text: [UInt8], folder: String) {
        var lines = [0]
        for (position, byte) in text.enumerated() where byte == UInt8(ascii: "\n") {
            lines.append(position + 1)
        }
        self.init(map: map, text: text, lines: lines, folder: folder)
    }

    /// - Parameter index: 0-based.
    fileprivate func line(_ index: Int) -> ArraySlice<UInt8> {
        guard lines.indices.contains(index) else { return [] }
        let end = lines.indices.contains(index + 1) ? lines[index + 1] : text.count
        return text[lines[index]..<end]
    }
}

/// Operations on paths as texts; no file is looked at.
enum FilePath {
    /// The folder without its final slash; empty for the root.
    static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    /// Where `name` leads from `folder`, without `.` and `..`. Names with a scheme stay unchanged.
    static func joined(_ folder: String, _ name: String) -> String {
        if name.hasPrefix("file:///") { return String(name.dropFirst("file://".count)) }
        if name.contains("://") { return name }
        let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }
}

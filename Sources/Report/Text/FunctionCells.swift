import Analysis
import Exports
import ProfileModel

extension Function {
    /// Own code is marked, so that it can be found without colours, too.
    func cell(prefix: String = "") -> TextTable.Cell {
        var cell = TextTable.Cell(name.escapedForDisplay, style: isOwn ? .own : .plain)
        cell.prefix = prefix + (isOwn ? "● " : "  ")
        cell.isFunction = true
        return cell
    }

    /// Invented and unknown modules add nothing to the name.
    var moduleCell: TextTable.Cell {
        TextTable.Cell(moduleIndex == nil ? "" : module.escapedForDisplay, style: .dim)
    }
}

extension Frame {
    /// "logger.cpp:41"; empty without debug information.
    var place: String {
        guard let file, !file.isEmpty else { return "" }
        let name = file.split(separator: "/").last.map(String.init) ?? file
        return (name + (line.map { ":\($0)" } ?? "")).escapedForDisplay
    }
}

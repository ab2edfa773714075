import ProfileModel

/// The scripts that Node ran in a recording.
struct NodeScripts: Sendable {
    /// The folder that contains all of the program's own scripts.
    private let folder: [Substring]

    /// - Parameter files: the files of all JavaScript functions.
    init(_ files: some Sequence<String>) {
        var common: [Substring]?
        for file in Set(files) where file.hasPrefix("/") && ScriptPath(file).isOwn {
            let parts = Array(file.split(separator: "/").dropLast())
            common = common.map { Array(zip($0, parts).prefix { $0 == $1 }.map(\.0)) } ?? parts
        }
        folder = common ?? []
    }

    func role(of function: String?, in file: String) -> (isModule: Bool, role: LoadingRole) {
        if function == "<module>" { return (true, .library) }
        guard file.hasPrefix("node:") else { return (false, .program) }
        if function == "executeUserEntryPoint" { return (false, .start) }
        return (false, Self.loaders.contains(where: file.hasPrefix) ? .loader : .library)
    }

    private static let loaders = ["node:internal/modules/", "node:internal/bootstrap/realm"]

    /// A module's name: its path from its package on, or below the program's folder.
    func moduleName(of file: String) -> String {
        guard file.hasPrefix("/") else { return file }
        let parts = file.split(separator: "/")
        if let packages = parts.lastIndex(of: "node_modules"), packages < parts.count - 1 {
            return parts[(packages + 1)...].joined(separator: "/")
        }
        guard parts.starts(with: folder), parts.count > folder.count else { return file }
        return parts[folder.count...].joined(separator: "/")
    }
}

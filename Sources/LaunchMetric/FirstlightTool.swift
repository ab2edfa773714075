import Foundation

/// The installed `firstlight`.
struct FirstlightTool: Hashable, Sendable {
    /// Its output, once it has ended.
    struct Output: Sendable {
        var status: Int32
        var text: Data
        var complaints: String
    }

    var path: String

    /// - Parameters:
    ///   - environment: of this process; for tests.
    ///   - isExecutable: true if there is a program at a path; for tests.
    static func find(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        isExecutable: (String) -> Bool = Self.isProgram
    ) throws(LaunchMetricError) -> FirstlightTool {
        if let named = environment["FIRSTLIGHT"], !named.isEmpty {
            guard isExecutable(named) else {
                throw .notInstalled(
                    "FIRSTLIGHT names '\(named)', which is not an executable program")
            }
            return FirstlightTool(path: named)
        }
        let folders = (environment["PATH"] ?? "").split(
            separator: ":", omittingEmptySubsequences: false)
        for folder in folders {
            let path = "\(folder.isEmpty ? "." : folder)/firstlight"
            if isExecutable(path) { return FirstlightTool(path: path) }
        }
        throw .notInstalled(
            "firstlight is not in PATH: install it (make install), or set the environment variable "
                + "FIRSTLIGHT to its path")
    }

    private static func isProgram(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            && !isFolder.boolValue && FileManager.default.isExecutableFile(atPath: path)
    }

    /// Runs the tool to its end. If the task is cancelled, the tool gets a SIGINT, and ends the
    /// programs that it has launched.
    func run(_ arguments: [String]) async throws -> Output {
        try Task.checkCancellation()
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let process = RunningProcess(path: path, arguments: arguments)
        // Output goes to files: a process that fills a pipe without a reader would wait for ever.
        let (output, error) = (folder.path + "/output", folder.path + "/error")
        let status = try await withTaskCancellationHandler {
            try await process.run(output: output, error: error)
        } onCancel: {
            process.interrupt()
        }
        try Task.checkCancellation()
        return Output(
            status: status, text: try Data(contentsOf: URL(fileURLWithPath: output)),
            complaints: Self.complaints(in: try Data(contentsOf: URL(fileURLWithPath: error))))
    }

    /// The last 4 KiB, without the prefix of each line.
    private static func complaints(in data: Data) -> String {
        let prefix = "firstlight: "
        return String(decoding: data.suffix(4096), as: UTF8.self).split(separator: "\n")
            .map { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : String($0) }
            .joined(separator: "\n")
    }
}

/// A folder for the files of a run.
struct TemporaryFolder {
    let path: String

    init() throws {
        let place = FileManager.default.temporaryDirectory.appendingPathComponent(
            "launch-metric-" + UUID().uuidString)
        try FileManager.default.createDirectory(
            at: place, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        path = place.path
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}

/// Serialises measurements: two at a time would disturb each other.
actor MeasuringTurn {
    static let shared = MeasuringTurn()
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take<Value: Sendable>(
        _ body: @Sendable () async throws -> Value
    ) async rethrows -> Value {
        if isTaken {
            // A task that leaves passes the turn on.
            await withCheckedContinuation { waiting.append($0) }
        }
        isTaken = true
        defer { leave() }
        return try await body()
    }

    private func leave() {
        guard waiting.isEmpty else { return waiting.removeFirst().resume() }
        isTaken = false
    }
}

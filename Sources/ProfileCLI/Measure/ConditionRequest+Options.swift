import Conditions
import Glibc
import ProfileModel

extension ConditionRequest {
    /// The conditions that the options ask for.
    init(_ options: MeasureOptions) throws(ConditionError) {
        try self.init(network: options.network, disk: options.disk)
        cold =
            switch options.cache {
            case .warm: .no
            case .cold: .files
            case .coldCopies: .privateCopies
            case .coldAll: .all
            }
        home =
            switch options.home {
            case .own: nil
            case .fresh: .fresh
            case .copy(let folder): .copy(of: folder)
            }
        if let path = options.environmentFile { environment = try EnvironmentFile.read(path) }
        before = options.before.map { Hook(command: $0) }
        between = options.between.map { Hook(command: $0) }
        endsDaemons = options.endsDaemons
    }
}

extension CommandResult.Ending {
    /// For a message about a command that failed.
    var words: String {
        switch self {
        case .exited(let status): "ended with status \(status)"
        case .signalled(let signal): "was ended by signal \(signal)"
        case .tookTooLong: "took too long, and was killed"
        case .notStarted(let code): "could not be started (\(String(cString: strerror(code))))"
        case .unknown: "ended, but it is not known how"
        }
    }
}

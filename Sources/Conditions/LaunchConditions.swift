import Glibc
package import ProfileModel

/// The conditions of a measurement's launches. Everything that they need is set up once, before the
/// first launch, or an error names the missing part. It is all removed with this value, or with our
/// process.
///
/// The order for each launch: ``renew(isFirst:)``; start a child with ``childSetting``; when it
/// waits to execute the program, ``evict()``; then the launch; and when it is over, ``clean()`` and
/// ``judge(_:readBytes:)``.
package final class LaunchConditions {
    package let request: ConditionRequest
    /// The program's file, without symbolic links.
    package let program: String
    /// nil: nothing is ended between launches.
    private var cleaner: Cleaner?
    private let disk: DiskLimitHolder?
    private let home: HomeHolder?
    private var net: NetHolder?
    private var copies: CopiesHolder?
    private var files: ColdFiles?
    /// How much earlier launches read, if they were cold by their state and read some of each file.
    /// file.
    private var reads: [Int64] = []

    /// - Parameter program: the path of the program's file.
    package init(_ request: ConditionRequest, program: String) throws(ConditionError) {
        self.request = request
        self.program = FileText.real(program) ?? program
        if request.cold == .all { try AllCaches.check() }
        if let rate = request.disk {
            try DiskCheck.check(program: self.program)
            disk = DiskLimitHolder(try DiskLimit(rate))
        } else {
            disk = nil
        }
        switch request.home {
        case nil: home = nil
        case .fresh: home = HomeHolder(try HomeFolder(copying: nil))
        case .copy(let original): home = HomeHolder(try HomeFolder(copying: original))
        }
        net = try NetHolder(request, binds: [])
    }

    /// From now on orphans become our children, so that ``clean(kept:)`` can end them.
    package func adoptOrphans() throws(ConditionError) {
        cleaner = try Cleaner()
    }

    /// Sets the files that leave the cache before each launch. By default these are the program's
    /// own file, its interpreter, and its dynamic linker.
    ///
    /// - Parameter paths: ``OpenedFiles/paths`` of a launch that does not count, or files that the
    ///   caller knows.
    package func use(files paths: [String]) throws(ConditionError) {
        guard request.cold != .no else { return }
        guard request.cold == .privateCopies else {
            files = ColdFiles(program: program, others: paths)
            return
        }
        let copies = CopiesHolder(
            try PrivateCopies(of: [program] + paths.filter { $0 != program }))
        guard let first = copies.pairs.first, first.original == program else {
            throw .unsupported(
                condition: "private copies of the program's files",
                missing: "\(program) is on no disk, or cannot be read",
                remedy: "copy the program to a disk")
        }
        // A process can enter only one user namespace, so all are made again, together.
        net = nil
        net = try NetHolder(
            request, binds: copies.pairs.map { (source: $0.copy, target: $0.original) })
        files = ColdFiles(program: first.copy, others: copies.pairs.map(\.copy))
        self.copies = copies
    }

    /// How to start a child; this value owns the descriptors.
    package var childSetting: ChildSetting {
        var setting = ChildSetting()
        if let net {
            setting.namespaces = net.entered
            setting.changesMounts = net.changesMounts
            setting.socketFolder = net.socketFolder
        }
        if let disk { setting.controlGroups = [disk.processes] }
        setting.environment = environment
        return setting
    }

    /// The changes to our environment; the last one of a name counts.
    package var environment: [EnvironmentChange] {
        (home?.environment ?? []) + request.environment
    }

    // MARK: For each launch

    /// Restores the home, then runs the user's commands, first `--between`, then `--before`. If one
    /// fails, the others are not run: see ``CommandResult/hasSucceeded``.
    ///
    /// - Returns: each command with its result.
    package func renew(
        isFirst: Bool
    ) throws(ConditionError) -> [(command: String, result: CommandResult)] {
        try home?.renew()
        var results: [(command: String, result: CommandResult)] = []
        for hook in [isFirst ? nil : request.between, request.before] {
            guard let hook else { continue }
            let result = hook.run(environment: environment)
            results.append((hook.command, result))
            guard result.hasSucceeded else { break }
        }
        return results
    }

    /// Makes the launch cold, if requested. Call it when the child is already waiting: any later
    /// reader of the program's files warms them.
    ///
    /// - Returns: how much of the files is in the page cache now; nil: the launch should be warm.
    package func evict() throws(ConditionError) -> CacheState? {
        guard request.cold != .no else { return nil }
        let files =
            self.files ?? ColdFiles(program: program, others: FirstFiles.of(program: program))
        self.files = files
        if request.cold == .all { try AllCaches.drop() }
        return files.evict()
    }

    /// Judges whether a launch was cold; nil: it should be warm. Call it once for each launch, in
    /// order, including the first: it remembers the bytes read, for later launches.
    ///
    /// - Parameters:
    ///   - state: the result of ``evict()``.
    ///   - readBytes: how much the launch and its children read from block devices.
    package func judge(_ state: CacheState?, readBytes: Int64?) -> ColdVerdict? {
        guard let state, let files else { return nil }
        var evidence = ColdEvidence(
            before: state, unavoidable: files.unavoidable, readBytes: readBytes)
        let isColdByItself = evidence.isProvenCold
        evidence.usualReadBytes = Self.median(reads)
        // Only cold launches set the standard, since warm ones would lower it. A launch that read
        // less than usual is included: if most do so, the usual value was wrong.
        if let readBytes, isColdByItself { reads.append(readBytes) }
        return evidence.verdict
    }

    private static func median(_ values: [Int64]) -> Int64? {
        values.isEmpty ? nil : values.sorted()[values.count / 2]
    }

    /// Ends the processes that the launch has left behind. The caller has waited for the program
    /// itself. Needs ``adoptOrphans()``.
    ///
    /// - Parameter kept: our children that belong neither to a launch nor to this value.
    package func clean(kept: Set<Int32> = []) -> [LeftBehind] {
        cleaner?.clean(kept: kept.union(helpers), endsDaemons: request.endsDaemons) ?? []
    }

    /// Our children that this value needs; they belong to no launch.
    package var helpers: Set<Int32> { Set(net?.helpers ?? []) }

    // MARK: Statements for a measurement

    package func measured(until: [String]) -> MeasuredConditions {
        let cache: MeasuredConditions.Cache =
            switch request.cold {
            case .no: .warm
            case .files: .cold
            case .privateCopies: .coldCopies
            case .all: .coldAll
            }
        return MeasuredConditions(
            cache: cache, network: request.network?.name, diskRate: request.disk?.bytesPerSecond,
            until: until)
    }

    /// Notes for readers of the figures.
    package var notes: [String] {
        var notes: [String] = []
        let staying = files?.unavoidable.staying ?? []
        if !staying.isEmpty {
            let names = staying.prefix(3).map { String($0.name) }.joined(separator: ", ")
            let more = staying.count > 3 ? " and \(staying.count - 3) more" : ""
            notes.append("\(names)\(more) stayed in the cache: other processes have them mapped")
        }
        for file in (files?.unavoidable.unprovable ?? []).prefix(3) {
            notes.append(
                "\(file.path) could not be made cold: "
                    + (file.problem ?? "it is on a \(file.kind.words)"))
        }
        if request.disk != nil {
            notes.append("the disk rate limits what is read from disks, not from the page cache")
        }
        return notes
    }
}

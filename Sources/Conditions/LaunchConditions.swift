import Glibc
package import ProfileModel

/// The conditions of a measurement's launches. What they need is had once, before the first launch,
/// or the error says what is missing; all of it goes with this value, or with our process.
///
/// The order for each launch: ``renew(isFirst:)``; a child in ``childSetting``; when that waits to
/// execute the program, ``evict()``; then the launch, and when it is over ``clean()`` and
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
    /// What launches have read whose files had left the cache, and that read some of each.
    private var reads: [Int64] = []

    /// - Parameter program: the path of its file.
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

    /// From now on orphans become our children, for ``clean(kept:)`` to end.
    package func adoptOrphans() throws(ConditionError) {
        cleaner = try Cleaner()
    }

    /// What a launch uses: from then on that leaves the cache before each launch. Without this it is
    /// the program's own file, what runs it and its dynamic linker.
    ///
    /// - Parameter paths: ``OpenedFiles/paths`` of a launch that does not count, or what the caller
    ///   knows else.
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
        // A process can be in one user namespace only: all are made anew.
        net = nil
        net = try NetHolder(
            request, binds: copies.pairs.map { (source: $0.copy, target: $0.original) })
        files = ColdFiles(program: first.copy, others: copies.pairs.map(\.copy))
        self.copies = copies
    }

    /// How a child is started; its descriptors are this value's.
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

    /// What is different from our environment; of the same name the last counts.
    package var environment: [EnvironmentChange] {
        (home?.environment ?? []) + request.environment
    }

    // MARK: For each launch

    /// The home as it was, then the user's commands, first `--between`, then `--before`. Where one
    /// fails, the others are not run: see ``CommandResult/hasSucceeded``.
    ///
    /// - Returns: what the commands have said, with the command.
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

    /// Makes the launch cold, where that was asked for. Call it when the child waits already: whatever
    /// reads the program's file after that warms it.
    ///
    /// - Returns: what the page cache has of the files now; nil: the launch is a warm one.
    package func evict() throws(ConditionError) -> CacheState? {
        guard request.cold != .no else { return nil }
        let files =
            self.files ?? ColdFiles(program: program, others: FirstFiles.of(program: program))
        self.files = files
        if request.cold == .all { try AllCaches.drop() }
        return files.evict()
    }

    /// Whether a launch was cold; nil: it was to be warm. Ask once a launch, in their order, the first
    /// one included: what was read is remembered for those that follow.
    ///
    /// - Parameters:
    ///   - state: what ``evict()`` gave.
    ///   - readBytes: what the launch and its children have read from block devices.
    package func judge(_ state: CacheState?, readBytes: Int64?) -> ColdVerdict? {
        guard let state, let files else { return nil }
        var evidence = ColdEvidence(
            before: state, unavoidable: files.unavoidable, readBytes: readBytes)
        let isColdByItself = evidence.isProvenCold
        evidence.usualReadBytes = Self.median(reads)
        // What warm launches read would lower what is asked of the others. One that read less than
        // usual counts: if most do so, the usual was none.
        if let readBytes, isColdByItself { reads.append(readBytes) }
        return evidence.verdict
    }

    private static func median(_ values: [Int64]) -> Int64? {
        values.isEmpty ? nil : values.sorted()[values.count / 2]
    }

    /// Ends what the launch has left behind; the caller has waited for the program itself. Needs
    /// ``adoptOrphans()``.
    ///
    /// - Parameter kept: children of ours that are no launch's, and not this value's either.
    package func clean(kept: Set<Int32> = []) -> [LeftBehind] {
        cleaner?.clean(kept: kept.union(helpers), endsDaemons: request.endsDaemons) ?? []
    }

    /// Children of ours that this value needs: no launch's.
    package var helpers: Set<Int32> { Set(net?.helpers ?? []) }

    // MARK: What a measurement says of them

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

    /// What a reader of the figures should know, in words.
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

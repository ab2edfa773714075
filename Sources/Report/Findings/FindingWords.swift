import Analysis
import Exports
import ProfileModel

/// A finding in sentences: its title, its details, and advice.
struct FindingWords {
    let profile: Profile
    let finding: Finding
    /// How many columns a function's name may take; nil: any.
    var functionWidth: Int?

    /// Without the time in milliseconds.
    var title: String {
        let place = name(of: finding.place)
        switch finding.subject {
        case .initializer(let initializer):
            return "static initialiser of \(initializer.module): \(place)"
        case .wait(let wait): return title(of: wait)
        case .shortWaits:
            return "\(waiter) waits again and again in \(callers), less than 1 ms each time"
        case .deadlock(let deadlock): return title(of: deadlock)
        case .contendedLock(let contention):
            return "\(Numbers.count(contention.threads, "thread")) waited for one lock, "
                + "\(contention.lock), in \(place)"
        case .priorityInversion(let wait, let other):
            let lock = wait.kind == .lockWait ? "a lock that is held by " : ""
            return "priority inversion: \(waiter) waits in \(callers) for \(lock)"
                + words(for: other)
        case .dominantProcess(let index):
            let isBusy = profile.processes[index].cpu >= timesOfFirstThread(index).blocked
            let kind = isBusy ? "computes, mostly" : "waits, most of the time,"
            return "the launch waits for \(command(index)), which \(kind) in \(place)"
        case .processStarts(let started):
            return "\(process(started.parent)) starts "
                + "\(Numbers.grouped(started.processes.count)) processes: \(list(names(started)))"
        case .childrenInSequence(let started):
            let commands = started.processes.map(command)
            return "\(process(started.parent)) starts \(list(commands)) one after the other"
        case .unawaitedProcess(let index):
            let name = command(index)
            return "\(name) uses the core that the launch waits for, but nothing waits for \(name)"
        case .dynamicLinking(let linking):
            let libraries =
                linking.libraries > 0
                ? Numbers.libraries(linking.libraries)
                : "the program's libraries"
            return "the dynamic linker loads \(libraries) before main"
        case .scriptLoading(let loader):
            return "main thread loads \(Self.files(of: loader))"
        case .dlopen(let loading):
            return "main thread loads \(libraries(loading.paths)) (dlopen) in \(place)"
        case .unusedLibrary(let path, _):
            return "\(fileName(path)) is loaded and initialised, but was not seen in use"
        case .uncachedBytecode(let compiled):
            let modules = Numbers.count(compiled.modules.count, "module")
            return "imports compile \(modules), whose bytecode was not found: "
                + list(compiled.modules)
        case .unusedImport(let imported):
            return "import \(imported.module): none of its functions was seen to run afterwards"
        case .repeatedImports(let repeated):
            let modules = repeated.modules.isEmpty ? "" : " \(list(repeated.modules))"
            return "\(place) imports\(modules) again and again"
        case .mainThreadWork(_, let inner):
            return "\(nameOrLibrary(of: finding.place)) computes on the main thread"
                + (inner.map { ", mostly in \(nameOrLibrary(of: $0))" } ?? "")
        case .unoptimizedBuild(let count):
            return "code that was compiled without optimisation: "
                + Numbers.count(count, "function") + ", the heaviest \(place)"
        case .debugLibrary(let name): return "\(name), a library for debugging, computes"
        }
    }

    /// "deadlock: main (1) waits for mutex a, which worker (2) holds, …"
    private func title(of deadlock: DeadlockEvidence) -> String {
        let members = deadlock.members
        let waits = members.indices.map { index in
            let holder = members[(index + 1) % members.count]
            return "\(name(of: members[index])) waits for "
                + "\(members[index].lock ?? "a lock"), which \(name(of: holder)) holds"
        }
        return "deadlock: " + list(waits)
    }

    private func name(of member: DeadlockEvidence.Member) -> String {
        let isMain = profile.mainThread.isMain(member.thread, at: finding.range.lowerBound)
        return (isMain ? "main thread " : "") + profile.label(ofThread: member.thread)
    }

    /// The places where the other threads wait: the first thread's place is the finding's own
    /// place.
    private func details(of deadlock: DeadlockEvidence) -> [String] {
        deadlock.members.dropFirst().map { "\(name(of: $0)) waits in \(chain($0.stack))" }
            + ["none of these waits had ended when the recording did"]
    }

    // MARK: Details

    /// The details, one sentence each.
    var details: [String] {
        switch finding.subject {
        case .initializer(let initializer): details(of: initializer)
        case .wait(let wait): details(of: wait)
        case .deadlock(let deadlock): details(of: deadlock)
        case .contendedLock(let contention):
            [
                "\(Numbers.count(contention.count, "wait")), \(Numbers.time(contention.waited)) of "
                    + "all these threads together"
            ]
        case .priorityInversion(let wait, let other):
            [
                "the other thread had no core for \(Numbers.time(other.lacked)) of "
                    + "\(Numbers.time(other.times.wall))"
            ] + details(of: wait)
        case .dynamicLinking(let linking):
            [
                "\(Numbers.time(linking.cpu)) of it CPU"
                    + (linking.relocating > .zero
                        ? ", \(Numbers.time(linking.relocating)) of that to relocate them" : "")
            ]
        case .dlopen(let loading):
            loading.unused.isEmpty
                ? [] : ["not seen in use afterwards: \(list(loading.unused.map(fileName)))"]
        case .processStarts(let started): [list(commands(started), most: Self.mostCommands)]
        case .dominantProcess(let index), .unawaitedProcess(let index):
            [
                "it used \(Numbers.time(profile.processes[index].cpu)) of CPU in all"
                    + lacked(index)
                    + (profile.processes[index].parent.map { "; started by \(process($0))" } ?? "")
            ]
        case .childrenInSequence(let started):
            [
                "each started when the previous one had ended: "
                    + list(
                        started.processes.map { timed(command($0), length(of: $0)) },
                        most: Self.mostCommands)
            ]
        case .uncachedBytecode(let compiled): details(of: compiled)
        case .unusedImport(let imported):
            ["\(Numbers.time(imported.cpu)) of it CPU, including what it imported"]
                + (imported.used.isEmpty
                    ? [] : ["not counted, because it was seen to run: \(list(imported.used))"])
        case .repeatedImports(let repeated):
            ["seen importing \(Numbers.grouped(repeated.count)) times, with other work in between"]
        case .mainThreadWork(let lacked, _):
            lacked.nanoseconds > finding.saving.nanoseconds / 10
                ? ["besides, it had no core for \(Numbers.time(lacked))"] : []
        case .unusedLibrary(_, let isLinkedForNothing):
            isLinkedForNothing ? ["no other loaded file refers to its symbols"] : []
        case .shortWaits(let call): call.map { ["most of it in \(name(of: $0))"] } ?? []
        case .scriptLoading, .unoptimizedBuild, .debugLibrary: []
        }
    }

    private func details(of compiled: CompilationEvidence) -> [String] {
        if compiled.isDisabled { return ["the interpreter was told to write no bytecode (-B)"] }
        return compiled.wasWritten
            ? ["it was seen being written: the next launch may find it"]
            : ["it was not seen being written, but that is so short that samples may miss it"]
    }

    private func details(of initializer: InitializerEvidence) -> [String] {
        let place = initializer.file.map { file in
            " (" + fileName(file) + (initializer.line.map { ":\($0)" } ?? "") + ")"
        }
        let times =
            "the initialiser\(place ?? "") took \(Numbers.time(initializer.cpu)) of CPU, "
            + "\(Numbers.time(initializer.wall)) of wall time"
        return [times]
            + (initializer.isUnused
                ? ["nothing of \(initializer.module) was seen in use afterwards"] : [])
    }

    // MARK: Processes

    /// "make (4711)"
    private func process(_ index: Int) -> String {
        let figures = profile.processes[index]
        return figures.name.isEmpty ? figures.label : "\(figures.name) (\(figures.pid))"
    }

    private func timesOfFirstThread(_ process: Int) -> StateTimes {
        profile.processes[process].threads.first.map { profile.threads[$0].times } ?? .zero
    }

    /// ", and had no core for 60.1 ms": only if that is more than a tenth of the finding's saving.
    private func lacked(_ index: Int) -> String {
        let times = timesOfFirstThread(index)
        let lacked = times.runnable + times.preempted
        guard lacked.nanoseconds > finding.saving.nanoseconds / 10 else { return "" }
        return ", and had no core for \(Numbers.time(lacked))"
    }

    /// Its program and its first argument.
    func command(_ index: Int) -> String {
        let figures = profile.processes[index]
        return ([figures.label] + figures.arguments.dropFirst().prefix(1)).joined(separator: " ")
    }

    private func length(of process: Int) -> TimeSpan? { profile.processes[process].wall }

    func timed(_ command: String, _ length: TimeSpan?) -> String {
        length.map { "\(command) \(Numbers.time($0))" } ?? command
    }

    /// "sleep 0.05 51.5 ms", "12 times true 10.9 ms in all"; the longest-lived first.
    private func commands(_ started: ProcessEvidence) -> [String] {
        let groups = Dictionary(grouping: started.processes) { profile.processes[$0].name }
        let sums = groups.values.map { group in
            (group: group, length: group.reduce(TimeSpan.zero) { $0 + (length(of: $1) ?? .zero) })
        }
        return sums.sorted { left, right in
            (right.length, left.group[0]) < (left.length, right.group[0])
        }.map { group, length in
            group.count == 1
                ? timed(command(group[0]), length)
                : "\(Numbers.grouped(group.count)) times \(profile.processes[group[0]].label) "
                    + "\(Numbers.time(length)) in all"
        }
    }

    /// "36 times bash"
    private func names(_ started: ProcessEvidence) -> [String] {
        let heaviest = heaviest(of: started)
        let others = started.names.filter { $0.name != heaviest?.name }
        return ([heaviest].compactMap { $0 } + others).map { named in
            let cpu = named == heaviest ? " (\(Numbers.time(named.cpu)) of CPU)" : ""
            return
                (named.count == 1
                ? named.name : "\(Numbers.grouped(named.count)) times \(named.name)") + cpu
        }
    }

    /// The cost of starting one process is below this.
    private static let leastEach = TimeSpan.milliseconds(20)

    /// Processes with one name that used more than half of all processes' CPU time, and at least as
    /// much as the finding's saving. nil: there are none, so the number of processes matters more.
    func heaviest(of started: ProcessEvidence) -> ProcessEvidence.Count? {
        let whole = started.names.reduce(TimeSpan.zero) { $0 + $1.cpu }
        return started.names.first {
            $0.count > 1 && $0.cpu.nanoseconds * 2 > whole.nanoseconds && $0.cpu >= finding.saving
                && $0.cpu.nanoseconds >= Self.leastEach.nanoseconds * Int64($0.count)
        }
    }

    private static func files(of loader: ScriptLoader) -> String {
        switch loader {
        case .perl: "Perl's modules (use, require)"
        case .ruby: "Ruby's files (require)"
        case .emacsLisp: "Emacs Lisp (start files, load, require)"
        case .bash, .zsh: "the shell's start files and what they source"
        case .r: "R's base packages and profiles"
        }
    }

    // MARK: Names

    /// The place and its callers, if they are own code.
    var callers: String {
        telling(own(finding.stack).reversed().drop { $0 != finding.place }).prefix(2).map(name)
            .joined(separator: " ← ")
    }

    /// The finding's place, innermost first.
    var place: String {
        let path = finding.stack.prefix { $0 != finding.place } + [finding.place]
        switch finding.subject {
        // The importing code is rarely the developer's own.
        case .unusedImport, .uncachedBytecode: return words(ofInnermost: Array(path))
        // The linker's own functions are known, but not the time that each took.
        case .dynamicLinking: return ""
        default: return chain(Array(path))
        }
    }

    static let (mostFunctions, mostCommands) = (3, 6)

    /// `wait() semaphore.cpp:10 ← loadStars() catalogue.cpp:21`: the innermost own functions with
    /// their places; if there are none, the innermost function.
    func chain(_ stack: [FrameID]) -> String {
        words(ofInnermost: own(stack))
    }

    func words(ofInnermost stack: [FrameID]) -> String {
        telling(stack.reversed()).prefix(Self.mostFunctions).map { id in
            let place = profile.frames[id].place
            return name(of: id) + (place.isEmpty ? "" : " \(place)")
        }.joined(separator: " ← ")
    }

    /// Innermost first: the functions with names, up to the program's entry; if none has a name,
    /// the first.
    private func telling(_ stack: some Sequence<FrameID>) -> [FrameID] {
        let outside = stack.filter { !profile.frames.function(of: $0).isKernel }
        let all = outside.isEmpty ? Array(stack) : outside
        let named = all.filter {
            let function = profile.frames.function(of: $0)
            return !function.isUnnamed && !function.isEvaluator
        }
        guard named.count < all.count else { return all }
        let told = named.filter {
            !Self.entries.contains(where: profile.frames.function(of: $0).name.hasPrefix)
        }
        return told.isEmpty ? Array(all.prefix(1)) : told
    }

    /// The entry functions of every program.
    private static let entries = ["_start", "__libc_start"]

    private func own(_ stack: [FrameID]) -> [FrameID] {
        let own = stack.filter { profile.frames.function(of: $0).isOwn }
        return own.isEmpty ? stack : own
    }

    /// The function's name, or its library's name if it has none.
    private func nameOrLibrary(of frame: FrameID) -> String {
        let function = profile.frames.function(of: frame)
        return function.isUnnamed ? function.module : name(of: frame)
    }

    func name(of frame: FrameID) -> String {
        let function = profile.frames.function(of: frame).name
        // Python gives this name to the top level of each file.
        let file = function == "<module>" ? profile.frames[frame].file : nil
        let name = file.map { "the top level of \(fileName($0))" } ?? function
        return functionWidth.map { name.escapedForDisplay.shortenedFunction(to: $0) } ?? name
    }

    /// The libraries' names. A library that was unloaded too soon has no name.
    private func libraries(_ paths: [String]) -> String {
        let names = paths.map(fileName).filter { !$0.isEmpty }
        let nameless = paths.count - names.count
        return names.isEmpty
            ? nameless == 1 ? "a library of unknown name" : "\(nameless) libraries of unknown names"
            : list(names) + (nameless > 0 ? " and \(nameless) of unknown names" : "")
    }

    private func fileName(_ path: String) -> String { String(Module(path: path).name) }

    /// "a, b, c and 4 more"
    func list(_ things: [String], most: Int = 3) -> String {
        let more = things.count > most ? " and \(things.count - most) more" : ""
        return things.prefix(most).joined(separator: ", ") + more
    }
}

extension Finding {
    var counterpart: Counterpart? {
        switch subject {
        case .wait(let wait): wait.counterpart
        case .priorityInversion(_, let other): other
        default: nil
        }
    }
}

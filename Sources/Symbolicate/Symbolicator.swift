internal import CElfutils
internal import Glibc
package import ProfileModel
internal import System

/// Gives meaning to a recording's addresses: functions, including inlined ones, files and lines.
package struct Symbolicator: Sendable {
    private let search: DebugFileSearch
    private let cache: SymbolCache?
    /// The known functions of kernels.
    private let kernels: KernelLists
    /// Called when a module begins and when it is done, from several threads.
    package var tell: (@Sendable (Progress) -> Void)?
    /// True if the user wants to stop; once true, it must stay true. Asked between one module, unit
    /// or address and the next, from several threads.
    package var isCalledOff: @Sendable () -> Bool = { false }

    package struct Progress: Hashable, Sendable {
        package var module: Module
        package var isDone: Bool
        /// How many modules there are in all.
        package var count: Int

        package init(module: Module, isDone: Bool, count: Int) {
            self.module = module
            self.isDone = isDone
            self.count = count
        }
    }

    /// - Parameters:
    ///   - cache: the results of earlier recordings; nil: none.
    ///   - kernels: where the lists of kernels' functions are.
    package init(
        search: DebugFileSearch = DebugFileSearch(), cache: SymbolCache? = nil,
        kernels: KernelLists = KernelLists()
    ) {
        self.search = search
        self.cache = cache
        self.kernels = kernels
    }

    /// The recording's symbols, completed for all addresses of its stacks. Existing symbols are
    /// kept: they may come from the machine that made the recording.
    package func symbolicate(_ recording: Recording) -> SymbolTable {
        let found = find(recording)
        found.keep()
        return found.symbols
    }

    /// The results, not yet written to the cache.
    package struct Found: Sendable {
        package var symbols: SymbolTable
        /// The number of modules that were not finished because the user stopped the search. They
        /// lack their ``ModuleSymbols``, too.
        package var left = 0
        /// See ``LibraryLoad/isReferenced``; by the library's position in the recording's list.
        package var references: [Int: Bool] = [:]
        fileprivate var additions: [@Sendable () -> Void] = []

        /// Puts the results into the recording that they belong to.
        package func complete(_ recording: inout Recording) {
            recording.symbols = symbols
            for (library, isReferenced) in references {
                recording.libraries[library].isReferenced = isReferenced
            }
        }

        /// Writes new results to the cache. May run on another thread while the symbols are read.
        package func keep() {
            for addition in additions { addition() }
        }
    }

    /// Like ``symbolicate(_:)``, but the caller must complete the cache.
    ///
    /// As many modules are open at once as there are cores: a launch may load hundreds.
    package func find(_ recording: Recording) -> Found {
        var table = recording.symbols
        let wanted = Self.unresolved(of: recording)
        let places = Self.unresolvedPlaces(of: recording)
        let questions = recording.modules.enumerated().compactMap { position, module -> Question? in
            let index = ModuleIndex(position)
            // If the recorder could not name an address in it, no file can.
            if Module.isRuntime(module.path) { return nil }
            let question = Question(
                index: index, module: module, addresses: wanted[index] ?? [],
                places: places[index] ?? [])
            return question.isEmpty && table.modules[index] != nil ? nil : question
        }
        var pairs: [(Question, Answer)] = []
        var left = 0
        let kernelQuestions = questions.filter(\.isOfKernel)
        for (question, answer) in zip(kernelQuestions, answers(toKernel: kernelQuestions)) {
            pairs.append((question, answer))
        }
        let ownQuestions = questions.filter { !$0.isOfKernel }
        for (question, answer) in zip(ownQuestions, answers(to: ownQuestions)) {
            guard let answer else {
                left += 1
                continue
            }
            pairs.append((question, answer))
        }
        for (question, answer) in pairs {
            if table.modules[question.index] == nil {
                table.modules[question.index] = answer.summary
            }
            for address in question.addresses {
                table.frames[address] = answer.frames[address.address.lookup] ?? [Self.unknown]
            }
            for place in question.places {
                guard let name = answer.names[place.address.lookup] else { continue }
                table.frames[place] = [
                    SourceFrame(function: name, file: nil, line: nil, isInlined: false)
                ]
            }
        }
        for address in wanted[nil] ?? [] { table.frames[address] = [Self.unknown] }
        let references = LibraryReferences(search: search, isCalledOff: isCalledOff)
            .find(in: recording)
        return Found(
            symbols: table, left: left, references: references,
            additions: pairs.compactMap(\.1.addition))
    }

    private func answers(to questions: [Question]) -> [Answer?] {
        Workers.map(questions.count, makeState: {}) { _, number -> Answer? in
            guard !isCalledOff() else { return nil }
            var progress = Progress(
                module: questions[number].module, isDone: false, count: questions.count)
            tell?(progress)
            defer {
                progress.isDone = true
                tell?(progress)
            }
            return answer(questions[number])
        }
    }

    /// One list serves the kernel and all its modules.
    private func answers(toKernel questions: [Question]) -> [Answer] {
        guard !questions.isEmpty else { return [] }
        let found = kernels.find(
            questions.map { question in
                (question.module, question.addresses.map(\.address.lookup))
            }, cache: cache)
        return found.map { found in
            let frames = found.names.mapValues { name in
                [SourceFrame(function: name, file: nil, line: nil, isInlined: false)]
            }
            return Answer(
                summary: found.summary, frames: frames, names: [:], addition: found.addition)
        }
    }

    /// The question to one module.
    private struct Question: Sendable {
        var index: ModuleIndex
        var module: Module
        var addresses: [FrameAddress]
        /// Addresses of its data.
        var places: [FrameAddress]

        var isEmpty: Bool { addresses.isEmpty && places.isEmpty }
        var isOfKernel: Bool { Module.isKernel(module.path) }
    }

    private struct Answer: Sendable {
        var summary: ModuleSymbols
        var frames: [UInt64: [SourceFrame]]
        var names: [UInt64: String]
        /// Writes to the cache the answers that it lacks.
        var addition: (@Sendable () -> Void)?
    }

    /// Return addresses are looked up one byte before, here; see ``CodeAddress/lookup``. nil: the
    /// search was stopped, and its results are incomplete.
    private func answer(_ question: Question) -> Answer? {
        let resolver = ModuleResolver(
            question.module, search: search, cache: cache, isCalledOff: isCalledOff)
        let places = question.places.map(\.address.lookup)
        let (frames, addition) = lookUp(
            Set(question.addresses.map(\.address.lookup)), with: resolver)
        let names = places.isEmpty ? [:] : resolver.dataNames(at: places)
        guard !isCalledOff() else { return nil }
        guard !resolver.lostBytes else {
            let remark = ModuleRemark(.unreadable, "it was cut short while it was read")
            return Answer(summary: ModuleSymbols(remarks: [remark]), frames: [:], names: [:])
        }
        return Answer(summary: resolver.summary, frames: frames, names: names, addition: addition)
    }

    /// The addresses without a meaning so far, by module; those without a module under nil.
    private static func unresolved(of recording: Recording) -> [ModuleIndex?: [FrameAddress]] {
        var seen: Set<FrameAddress> = []
        var result: [ModuleIndex?: [FrameAddress]] = [:]
        for node in recording.stacks.nodes where recording.symbols.frames[node.frame] == nil {
            guard seen.insert(node.frame).inserted else { continue }
            let module = node.frame.module
            let isKnown = module.map { recording.modules.indices.contains($0.rawValue) } ?? false
            result[isKnown ? module : nil, default: []].append(node.frame)
        }
        return result
    }

    /// The addresses in modules' data for which threads waited, except those that have a name
    /// already.
    private static func unresolvedPlaces(
        of recording: Recording
    ) -> [ModuleIndex: [FrameAddress]] {
        var result: [ModuleIndex: [FrameAddress]] = [:]
        let data = DataPlaces(recording)
        var seen: Set<FrameAddress> = []
        for wait in recording.waits {
            guard let place = wait.reason.place,
                let address = data.address(of: place, in: recording.child(of: wait.thread)),
                let module = address.module,
                recording.modules.indices.contains(module.rawValue),
                recording.symbols.frames[address] == nil, seen.insert(address).inserted
            else { continue }
            result[module, default: []].append(address)
        }
        return result.mapValues { $0.sorted { $0.address.value < $1.address.value } }
    }

    private typealias Frames = [UInt64: [SourceFrame]]

    /// Takes the known answers from the cache, and the rest from the files.
    private func lookUp(
        _ lookups: Set<UInt64>, with resolver: ModuleResolver
    ) -> (frames: Frames, addition: (@Sendable () -> Void)?) {
        guard !lookups.isEmpty else { return ([:], nil) }
        guard let cache, let key = resolver.cacheKey else {
            return (Self.find(lookups.sorted(), with: resolver), nil)
        }
        var known = cache.answers(for: key) ?? CachedAnswers()
        let answers = known.frames(at: lookups)
        let missing = lookups.filter { answers[$0] == nil }.sorted()
        guard !missing.isEmpty else { return (answers, nil) }
        let start = MonotonicTime.now
        let found = Self.find(missing, with: resolver)
        let isCheap = .now - start < cache.leastCost
        let result = answers.merging(found) { $1 }
        guard !isCheap, resolver.hasAll else { return (result, nil) }
        known.add(found)
        let learned = resolver.learned
        return (
            result,
            { [known] in
                cache.store(known, for: key)
                if let learned { cache.store(learned, for: key) }
            }
        )
    }

    private static func find(
        _ sorted: [UInt64], with resolver: ModuleResolver
    ) -> [UInt64: [SourceFrame]] {
        Dictionary(zip(sorted, resolver.frames(at: sorted)), uniquingKeysWith: { $1 })
    }

    private static let unknown = SourceFrame(
        function: nil, file: nil, line: nil, isInlined: false)
}

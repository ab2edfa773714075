package import ProfileModel

/// A reason why the launch was longer than it needs to be, with the evidence for it.
/// `docs/findings.md` describes each kind, and its thresholds.
package struct Finding: Hashable, Sendable {
    /// The kind of finding, with its particulars.
    package enum Subject: Hashable, Sendable {
        case initializer(InitializerEvidence)
        case wait(WaitEvidence)
        /// The callee of the finding's place with most of the time; nil: several callees, or not
        /// known.
        case shortWaits(in: FrameID?)
        case deadlock(DeadlockEvidence)
        case contendedLock(ContentionEvidence)
        case priorityInversion(WaitEvidence, Counterpart)
        /// A position in the profile's list of processes.
        case dominantProcess(Int)
        case processStarts(ProcessEvidence)
        case childrenInSequence(ProcessEvidence)
        /// A position in the profile's list of processes.
        case unawaitedProcess(Int)
        case dynamicLinking(LinkingEvidence)
        case scriptLoading(ScriptLoader)
        case dlopen(LoadingEvidence)
        /// The library's path, and ``LibraryFigures/isLinkedForNothing``.
        case unusedLibrary(String, isLinkedForNothing: Bool)
        /// The time in which the function and its callees were ready without a core; and the
        /// function that most of it was computed in, if that is further inwards and not the
        /// developer's own.
        case mainThreadWork(withoutCore: TimeSpan, mostly: FrameID? = nil)
        case uncachedBytecode(CompilationEvidence)
        case unusedImport(ImportEvidence)
        case repeatedImports(RepeatedImportEvidence)
        /// The number of functions that ran.
        case unoptimizedBuild(functions: Int)
        /// The library's name.
        case debugLibrary(String)
    }

    package var subject: Subject
    /// The part of the launch that could be saved. Time that several findings could claim counts
    /// for the first.
    package var saving: TimeSpan
    /// In the profile's list.
    package var thread: Int
    /// From its first to its last moment, since the launch's start.
    package var range: Range<TimeSpan>
    /// The function to look at first, a frame of ``stack``.
    package var place: FrameID
    /// Outermost first; never empty.
    package var stack: [FrameID]
}

extension Finding {
    /// The raw values are those of the JSON report.
    package enum Kind: String, Sendable, CaseIterable {
        case initializer
        case sleep
        case fileWait = "file-wait"
        case networkWait = "network-wait"
        case pipeWait = "pipe-wait"
        case pollWait = "poll-wait"
        case lockWait = "lock-wait"
        case threadWait = "thread-wait"
        case childWait = "child-wait"
        case diskWait = "disk-wait"
        case shortWaits = "short-waits"
        case deadlock
        case contendedLock = "contended-lock"
        case priorityInversion = "priority-inversion"
        case dominantProcess = "dominant-process"
        case processStarts = "process-starts"
        case childrenInSequence = "children-in-sequence"
        case unawaitedProcess = "unawaited-process"
        case dynamicLinking = "dynamic-linking"
        case scriptLoading = "script-loading"
        case dlopen
        case unusedLibrary = "unused-library"
        case uncachedBytecode = "uncached-bytecode"
        case unusedImport = "unused-import"
        case repeatedImports = "repeated-imports"
        case mainThreadWork = "main-thread-work"
        case unoptimizedBuild = "unoptimized-build"
        case debugLibrary = "debug-library"
    }

    package var kind: Kind {
        switch subject {
        case .initializer: .initializer
        case .wait(let evidence): evidence.kind
        case .shortWaits: .shortWaits
        case .deadlock: .deadlock
        case .contendedLock: .contendedLock
        case .priorityInversion: .priorityInversion
        case .dominantProcess: .dominantProcess
        case .processStarts: .processStarts
        case .childrenInSequence: .childrenInSequence
        case .unawaitedProcess: .unawaitedProcess
        case .dynamicLinking: .dynamicLinking
        case .scriptLoading: .scriptLoading
        case .dlopen: .dlopen
        case .unusedLibrary: .unusedLibrary
        case .uncachedBytecode: .uncachedBytecode
        case .unusedImport: .unusedImport
        case .repeatedImports: .repeatedImports
        case .mainThreadWork: .mainThreadWork
        case .unoptimizedBuild: .unoptimizedBuild
        case .debugLibrary: .debugLibrary
        }
    }
}

extension Profile {
    /// The reasons why the launch was longer than it needs to be, largest saving first; at most
    /// ``FindingSearch/most``. Empty: there is none.
    package func findings() -> [Finding] {
        guard var search = FindingSearch(self) else { return [] }
        return search.findings()
    }

    /// The phase in which a finding begins, in the profile's list; nil: none.
    package func phase(of finding: Finding) -> Int? {
        phases.firstIndex { ($0.start..<$0.end).contains(finding.range.lowerBound) }
    }
}

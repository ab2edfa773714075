import Agent
import Images
import ProcessIO
import ProfileModel
import System

/// Puts marks into the program, and removes them.
struct MarkPlacer: SessionPart {
    let context: SessionContext
    let discovery: ThreadDiscovery
    let resumption: ThreadResumption
    let stopper: ThreadStopper
    let codeUse: CodeUse

    /// The marks planned for one program or library.
    typealias PlannedMarks = (object: LinkedObject, plan: MarkPlan)

    /// Looks at the loaded program and libraries, and places their marks.
    func placeMarks() {
        guard let marks, marks.patience.allows(at: process.now),
            let plans = planMarks()
        else {
            return
        }
        let changes = plans.flatMap(\.plan.changes)
        var stopped: [TracedThread] = []
        let start = process.now
        if !changes.isEmpty {
            // A thread that cannot be stopped now may be stopped later.
            guard let others = stopper.stopRunning(by: start + MarkPatience.forStops) else {
                return putOffMarks(changes, marks, since: start)
            }
            stopped = others
            guard canChange(changes, stopped) else {
                for thread in stopped { resumption.release(thread) }
                return putOffMarks(changes, marks, since: start)
            }
        }
        place(plans)
        for thread in stopped { resumption.release(thread) }
        if !stopped.isEmpty { context.noteHold(from: start, to: process.now) }
    }

    /// nil: there is nothing to look at, or nowhere to put trampolines.
    func planMarks() -> [PlannedMarks]? {
        guard let marks, !marks.isOver, !marks.pending.isEmpty,
            let area, area.isSettled
        else { return nil }
        if marks.spaces.isEmpty { marks.spaces = area.makeTrampolineSpaces() }
        return marks.pending.compactMap { plan(for: $0, marks) }
    }

    /// Changes the code. No thread may run that could be inside it.
    func place(_ plans: [PlannedMarks]) {
        guard let marks else { return }
        marks.pending = []
        if plans.contains(where: { !$0.plan.changes.isEmpty }) { area?.keep() }
        for (object, plan) in plans {
            marks.note(plan)
            for change in plan.changes { place(change, marks) }
            for semaphore in plan.semaphores { raise(semaphore, of: object, marks) }
        }
    }

    /// The program was held in vain. Patience limits how often and how long this may happen.
    private func putOffMarks(
        _ changes: [MarkPlan.Change], _ marks: MarkPlacement, since start: MonotonicTime
    ) {
        context.noteHold(from: start, to: process.now)
        marks.patience.failed(from: start, to: process.now)
        guard marks.patience.isOver else { return }
        if marks.isPlaced {
            for change in changes { marks.refuse(change, .notWritten) }
            marks.pending = []
        } else {
            context.abandonMarks()
        }
    }

    private func plan(for object: LinkedObject, _ marks: MarkPlacement) -> PlannedMarks? {
        guard let file = object.file(of: process) else { return nil }
        let image = MarkedImage(
            file: file, path: object.path.isEmpty ? context.programPath : object.path,
            bias: object.bias)
        let (memory, unrelocated) = (process.memory, marks.unrelocated)
        let plan = marks.planner.plan(for: image) { address, count in
            unrelocated?.read(at: address, count: count)
                ?? memory.read(at: address, count: count)
        }
        return plan.map { (object, $0) }
    }

    private func place(_ change: MarkPlan.Change, _ marks: MarkPlacement) {
        guard let jump = marks.makeTrampoline(change) else { return }
        let code = process.memory.read(at: change.start, count: 8)
        guard code.count == 8, write(jump + code.dropFirst(jump.count), at: change.start) else {
            return marks.refuse(change, .notWritten)
        }
        marks.add(
            MarkPlacement.Placed(
                start: change.start, code: Array(code.prefix(jump.count)), jump: jump))
    }

    /// Writes in one step, if the bytes do not cross a cache line.
    private func write(_ bytes: [UInt8], at address: UInt64) -> Bool {
        process.memory.write(bytes, at: address)
    }

    /// True if no thread is within the bytes that would change, nor would return into them.
    ///
    /// - Parameter stopped: the threads that ran a moment ago; all others wait.
    private func canChange(_ changes: [MarkPlan.Change], _ stopped: [TracedThread]) -> Bool {
        // Threads may have started since then.
        guard discovery.knowsAllThreads else {
            discovery.addNewThreads(at: process.now)
            return false
        }
        return codeUse.isUnused(ChangedCode(changes.map(\.inside)), by: stopped)
    }

    // MARK: Semaphores

    private func raise(_ address: UInt64, of object: LinkedObject, _ marks: MarkPlacement) {
        let memory = process.memory
        let isWritable =
            image(of: object, memory)?.segments.contains {
                $0.kind == 1 && $0.flags & 2 != 0 && $0.contains(address)
                    && $0.contains(address &+ 1)
            } ?? false
        guard isWritable, change(address, by: 1) else { return }
        marks.semaphores.append(
            MarkPlacement.Semaphore(address: address, bias: object.bias, path: object.path))
    }

    private func image(of object: LinkedObject, _ memory: TargetMemory) -> LoadedImage? {
        guard object.path.isEmpty else { return object.image(memory) }
        let vector = process.vector
        return LoadedImage(
            programHeaders: vector.programHeaders, count: vector.programHeaderCount, memory: memory)
    }

    private func change(_ semaphore: UInt64, by difference: UInt16) -> Bool {
        let bytes = process.memory.read(at: semaphore, count: 2)
        guard bytes.count == 2 else { return false }
        let value = (UInt16(bytes[0]) | UInt16(bytes[1]) << 8) &+ difference
        return write([UInt8(truncatingIfNeeded: value), UInt8(value >> 8)], at: semaphore)
    }

    // MARK: Endings

    /// Restores the program's code. The trampolines stay: a thread may be in one.
    func removeMarks() {
        guard let marks, marks.isPlaced else { return }
        area?.stopMarks()
        marks.pending = []
        guard let stopped = stopper.stopOthers(than: nil) else { return note(.leftBehind) }
        observer.rereadMappings(at: process.now)
        let memory = process.memory
        var isRestored = true
        for changed in marks.placed {
            let code = memory.read(at: changed.start, count: 8)
            if code.isEmpty, observer.mappings.isCode(changed.start) {
                isRestored = false
            }
            // The code may have been unmapped meanwhile.
            guard code.count == 8, code.starts(with: changed.jump) else { continue }
            let restored = changed.code + code.dropFirst(changed.code.count)
            isRestored = write(restored, at: changed.start) && isRestored
        }
        if isRestored { marks.placed = [] } else { note(.leftBehind) }
        lowerSemaphores(marks)
        for thread in stopped { resumption.release(thread) }
    }

    private func lowerSemaphores(_ marks: MarkPlacement) {
        guard !marks.semaphores.isEmpty else { return }
        let listed = context.libraries.map {
            LinkMap.objects(debug: $0.linker.debug, memory: process.memory)
        }
        guard let objects = listed ?? context.instrumentation?.loneProgram.map({ [$0.object] })
        else {
            return
        }
        for semaphore in marks.semaphores
        where objects.contains(where: {
            $0.bias == semaphore.bias && $0.path == semaphore.path
        }) {
            _ = change(semaphore.address, by: .max)
        }
        marks.semaphores = []
    }
}

import Agent
import Images
import ProcessIO
import ProfileModel

/// Switches on the program's own signposts in every image that has them, and reports them.
struct SignpostReports: SessionPart {
    let context: SessionContext
    let register: ThreadRegister

    /// - Parameter objects: the linker's list; the program comes first.
    func images(of objects: [LinkedObject], _ memory: TargetMemory) -> [LoadedImage] {
        let vector = process.vector
        let program =
            stage.image?.linked?.loaded
            ?? LoadedImage(
                programHeaders: vector.programHeaders, count: vector.programHeaderCount,
                memory: memory)
        return [program].compactMap { $0 } + objects.dropFirst().compactMap { $0.image(memory) }
    }

    func switchOnSignposts(of images: [LoadedImage]) {
        guard let signposts = context.instrumentation?.hooks.signposts else { return }
        for image in images {
            let writes = signposts.activation(of: image)
            if !writes.isEmpty { area?.keep() }
            write(writes)
        }
    }

    /// True if there were signposts to switch off. Without a linker's list, only the program's own
    /// images count.
    func switchOffSignposts(_ signposts: ProgramSignposts) -> Bool {
        guard signposts.isOn else { return false }
        let memory = process.memory
        // If an image was noticed late, its libraries have not been listed yet.
        let linker = context.libraries?.linker ?? ImageStart(of: process).linker
        let objects = linker.map { LinkMap.objects(debug: $0.debug, memory: memory) } ?? []
        signposts.forgetAll(butThoseOf: images(of: objects, memory))
        write(signposts.deactivation())
        return true
    }

    private func write(_ writes: [MemoryWrite]) {
        for write in writes {
            _ = process.memory.write(write.bytes, at: write.address)
        }
    }

    /// - Parameter isLast: intervals that have not ended yet count as never ending.
    func reportSignposts(at now: MonotonicTime, isLast: Bool) {
        guard let signposts = context.instrumentation?.hooks.signposts, isLast || !context.isClosed
        else { return }
        // In another namespace the program's ids differ from ours: no thread is known by them.
        var hasLooked = isLast || !context.sharesNamespace
        let thread = { (tid: Int32) -> ThreadIndex? in
            // It may have begun since the last look at the process's threads.
            if threads[tid] == nil, !hasLooked {
                hasLooked = true
                register.listNewThreads(at: now)
            }
            return threads[tid]?.index
        }
        let news =
            isLast ? signposts.finish(at: now, thread: thread) : signposts.poll(thread: thread)
        for event in news.events where event.kind != .begin {
            context.sawSignpost?(event.label, event.time)
        }
        for result in news.results {
            switch result {
            case .interval(let interval): sink.receive(.interval(interval))
            case .signpost(let signpost): sink.receive(.signpost(signpost))
            }
        }
        let lost = signposts.losses.dropped &+ signposts.counts.unkept
        if isLast, lost > 0 { ledger.note(.lostSignposts, Int64(clamping: lost)) }
    }
}

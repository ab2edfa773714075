package import Launching
package import ProcessIO
package import ProfileModel
package import Recording
package import Sampler

/// One recording, from the first look at the process to the finished file.
package struct Recorder: Sendable {
    /// Where the file goes. An older recording there is kept as `.old`.
    package var output: String
    package var options: SamplerOptions
    package var engine = UnwindEngine.quick
    /// How much of the end is kept; nil: everything.
    package var last: TimeSpan?
    /// When Node processes were asked to write maps of their functions, in seconds since 1970; nil:
    /// they were not asked.
    package var nodeStart: Int?
    /// Notes on how the program was launched.
    package var notes: [RecorderNote] = []
    /// The version of this program, for the file's header.
    package var version: String
    /// Called five times a second, from a thread that must not be kept waiting.
    package var tellProgress: (@Sendable (RecordingProgress) -> Void)?

    package init(output: String, options: SamplerOptions, version: String) {
        self.output = output
        self.options = options
        self.version = version
    }

    package enum Target: Hashable, Sendable {
        /// The program's name or path, and its arguments.
        case launch([CommandWord])
        case attach(Int32)
    }

    package enum Failure: Error {
        case sampler(SamplerError)
        case recording(RecordingError)
    }

    package struct Result: Sendable {
        package var sampler: SamplerOutcome
        /// Why the file is not complete, if it is not. The part written before the failure is kept.
        package var failure: RecordingError?
        /// After a failure with ``Recorder/last``: the file with the part recorded before.
        package var partBefore: String?
        /// The identity of the file that was made; nil: no file was made.
        package var file: RecordingFile.Identity?
        package var pid: Int32
        /// Contents of the processes' files that can be had only from here.
        package var held: HeldFiles
    }

    /// Records until the process or the recording ends.
    ///
    /// - Parameter signals: made before the process had any other thread.
    package func record(
        _ target: Target, signals: SignalQueue
    ) throws(Failure) -> Result {
        do throws(SamplerError) {
            try Sampler.reserve()
        } catch {
            throw .sampler(error)
        }
        do throws(RecordingError) {
            try RecordingFile.checkWritable(output)
            if last != nil { try RecordingFile.checkParts(output) }
        } catch {
            throw .recording(error)
        }
        var header = Recording.Header(
            pid: 0, isAttached: target.isAttach, capture: options.capture,
            frequency: options.frequency)
        header.recorderVersion = version
        let queue = EventQueue(
            // Events that were taken from the queue use as much again, until they are written.
            capacity: Sampler.spareAddressSpace.map { min(EventQueue.usualCapacity, $0 / 4) }
                ?? EventQueue.usualCapacity)
        // With `last`, ended children take no room.
        let most = last == nil ? FollowedChildren.usualMost : .max
        let children =
            options.followsChildren ? FollowedChildren(queue: queue, most: most) : nil
        let writer = RecordingThread(
            path: output, header: header, queue: queue, engine: engine, last: last,
            nodeStart: nodeStart, tell: tellProgress)
        guard writer.start() else {
            let error = SystemError(starting: "the recording thread", code: 11)
            throw .sampler(.systemCall(error))
        }
        do throws(SamplerError) {
            let outcome = try sample(target, signals, queue, children)
            let unfollowed = RecorderNote(.unfollowedChildren, children?.unfollowed ?? 0)
            writer.finish(notes.adding(outcome.notes).adding([unfollowed])) {
                $0.complete(with: outcome)
            }
            return Result(
                sampler: outcome, failure: writer.failure, partBefore: writer.partBefore,
                file: writer.identity,
                pid: writer.pid, held: writer.held)
        } catch {
            writer.finish([]) { _ in }
            throw .sampler(error)
        }
    }

    private func sample(
        _ target: Target, _ signals: SignalQueue, _ queue: EventQueue,
        _ children: FollowedChildren?
    ) throws(SamplerError) -> SamplerOutcome {
        switch target {
        case .launch(let arguments):
            try Sampler.launch(
                arguments, options: options, signals: signals, sink: queue,
                children: children)
        case .attach(let pid):
            try Sampler.attach(
                to: pid, options: options, signals: signals, sink: queue,
                children: children)
        }
    }
}

extension Recorder.Target {
    fileprivate var isAttach: Bool {
        if case .attach = self { return true }
        return false
    }
}

extension Recording.Header {
    mutating func complete(with outcome: SamplerOutcome) {
        ticks = outcome.ticks
        missedTicks = outcome.missedTicks
        (samples, missedSamples) = (outcome.samples.taken, outcome.samples.missed)
        lateness = outcome.lateness
        lostSamples += outcome.lostSamples
        heldByProfiler = outcome.heldByProfiler
        capture = outcome.capture
        account = outcome.account
        self.outcome = outcome.outcome
    }
}

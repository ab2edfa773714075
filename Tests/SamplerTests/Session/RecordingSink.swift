import ProfileModel

@testable import Sampler

/// Keeps a session's reports, for a test on one thread.
final class RecordingSink: SampleSink, @unchecked Sendable {
    private(set) var events: [SamplerEvent] = []
    var refinements: [StackRefinement] = []

    func receive(_ event: SamplerEvent) { events.append(event) }

    func takeRefinements() -> [StackRefinement] {
        defer { refinements = [] }
        return refinements
    }

    var hasFailed: Bool { false }

    func samples(of thread: ThreadIndex = ThreadIndex(0)) -> [Sample] {
        events.compactMap { event in
            guard case .sample(let sample) = event, sample.thread == thread else { return nil }
            return sample
        }
    }

    /// The sum of all samples of a thread.
    func times(of thread: ThreadIndex = ThreadIndex(0)) -> StateTimes {
        samples(of: thread).reduce(.zero) { $0 + $1.times }
    }

    var borders: [LaunchBorder.Kind] {
        events.compactMap { event in
            guard case .border(let border) = event else { return nil }
            return border.kind
        }
    }

    var images: [String] {
        events.compactMap { event in
            guard case .image(let image) = event else { return nil }
            return image.path
        }
    }

    var mappings: [[CodeMapping]] {
        events.compactMap { event in
            guard case .mappings(let code, _) = event else { return nil }
            return code
        }
    }

    var started: [Int32] {
        events.compactMap { event in
            guard case .threadStarted(let thread) = event else { return nil }
            return thread.tid
        }
    }

    var ended: [ThreadIndex] {
        events.compactMap { event in
            guard case .threadEnded(let thread, _) = event else { return nil }
            return thread
        }
    }

    var names: [String] {
        events.compactMap { event in
            guard case .threadNamed(_, let name) = event else { return nil }
            return name
        }
    }
}

extension Sample {
    /// The kind of its stack, in a word.
    var kind: String {
        switch content {
        case .snapshot: "snapshot"
        case .unchanged: "unchanged"
        case .following: "following"
        case .none: "none"
        case .missing(let reason): "missing \(reason)"
        }
    }
}

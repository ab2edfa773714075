package import ProfileModel
package import Sampler

/// The progress of a recording, to be shown to the user.
package struct RecordingProgress: Hashable, Sendable {
    package private(set) var pid: Int32 = 0
    /// When the process was requested, or attached to.
    package private(set) var start: MonotonicTime?
    /// The last border that its launch has passed.
    package private(set) var border: LaunchBorder.Kind?
    package private(set) var isReady = false
    /// How many threads live, in all processes.
    package private(set) var threads = 0
    package private(set) var samples: Int64 = 0

    package init() {}

    /// - Parameter ofChild: true if the event is of a process that the recorded one started. Such
    ///   an event says nothing about the launch's progress.
    package mutating func note(_ event: SamplerEvent, ofChild: Bool = false) {
        switch event {
        case .began(let pid) where !ofChild: self.pid = pid
        case .border(let border) where !ofChild:
            start = start ?? border.time
            switch border.kind {
            // They begin no phase.
            case .held, .released: break
            case .watched where self.border != .firstInstruction: break
            default: self.border = border.kind
            }
        case .threadStarted: threads += 1
        case .threadEnded: threads -= 1
        case .sample: samples += 1
        case .ready: isReady = true
        default: break
        }
    }
}

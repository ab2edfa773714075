import Agent
import ProfileModel

/// How far a session is. Each stage holds what belongs to it alone; it is dropped when the stage is
/// left.
///
/// All transitions are here. A transition that is not possible from the present stage changes
/// nothing, and says so, because a process can end, and execute another program, at any moment.
enum Stage {
    /// The next image has not executed its first instruction yet.
    case launching(NextImage)
    /// An image runs, and our code is brought into it as soon as one of its threads is stopped.
    /// `failures` counts the failed attempts.
    case settling(RunningImage, failures: Int)
    /// An image runs, and it is settled how its stacks are taken.
    case sampling(RunningImage)
    /// One of its threads will execute another program, so all threads are traced for a moment.
    case following(RunningImage, Execution)
    /// The recording is over, and our changes in the image are being undone. nil: the image is
    /// gone.
    case leaving(RunningImage?, Execution?)
    case over(Recording.Outcome)

    // MARK: State

    var image: RunningImage? {
        switch self {
        case .settling(let image, _), .sampling(let image), .following(let image, _): image
        case .leaving(let image, _): image
        case .launching, .over: nil
        }
    }

    /// The facts known about the image that begins next.
    var next: NextImage {
        switch self {
        case .launching(let next): next
        case .following(_, let execution), .leaving(_, let execution?):
            NextImage(area: execution.area)
        default: NextImage()
        }
    }

    /// An exec that is about to happen.
    var execution: Execution? {
        switch self {
        case .following(_, let execution): execution
        case .leaving(_, let execution): execution
        default: nil
        }
    }

    var outcome: Recording.Outcome? {
        guard case .over(let outcome) = self else { return nil }
        return outcome
    }

    var isSettling: Bool {
        guard case .settling = self else { return false }
        return true
    }

    /// An exec was noticed only after it had happened: the next stop of the first thread is in the
    /// new image.
    var hasMissedExec: Bool {
        guard case .launching(let next) = self else { return false }
        return next.isLate
    }

    // MARK: Images

    /// Something is known of the first image.
    @discardableResult
    mutating func expect(_ next: NextImage) -> Bool {
        guard case .launching = self else { return false }
        self = .launching(next)
        return true
    }

    /// The image is gone, or about to go. The data that it leaves to the next one stays.
    ///
    /// - Parameters:
    ///   - isLate: the next one runs already.
    ///   - executed: as ``NextImage/executed``.
    @discardableResult
    mutating func loseImage(isLate: Bool = false, executed: MonotonicTime? = nil) -> Bool {
        switch self {
        case .settling, .sampling, .following:
            self = .launching(isLate ? NextImage(isLate: true, executed: executed) : next)
        case .leaving(_?, let execution): self = .leaving(nil, execution)
        case .leaving(nil, _), .launching, .over: return false
        }
        return true
    }

    /// - Parameter isToBeJoined: our code is not in it yet, and is wanted there.
    @discardableResult
    mutating func begin(_ image: RunningImage, isToBeJoined: Bool = false) -> Bool {
        switch self {
        case .launching:
            self = isToBeJoined ? .settling(image, failures: 0) : .sampling(image)
        case .leaving(nil, _): self = .leaving(image, nil)
        case .settling, .sampling, .following, .leaving, .over: return false
        }
        return true
    }

    // MARK: Our code

    /// How often bringing in our code may fail, as it may on a busy machine.
    static let mostFailures = 3

    /// Our code was brought in, or cannot be.
    @discardableResult
    mutating func settle() -> Bool {
        guard case .settling(let image, _) = self else { return false }
        self = .sampling(image)
        return true
    }

    /// The image into which our code is to be brought. nil: that is not needed, or a thread is on
    /// its way with it.
    var imageToJoin: RunningImage? {
        guard case .settling(let image, _) = self, image.entry == nil else { return nil }
        return image
    }

    /// Our code was not brought in this time. Returns false if it will not be tried again.
    mutating func failToSettle() -> Bool {
        guard case .settling(let image, let failures) = self else { return false }
        guard failures + 1 < Self.mostFailures else {
            settle()
            return false
        }
        self = .settling(image, failures: failures + 1)
        return true
    }

    // MARK: Execs

    /// While one exec is followed, another may be announced: then the first has failed.
    @discardableResult
    mutating func follow(_ execution: Execution) -> Bool {
        switch self {
        case .sampling(let image), .following(let image, _): self = .following(image, execution)
        case .launching, .settling, .leaving, .over: return false
        }
        return true
    }

    /// The exec did not happen.
    @discardableResult
    mutating func abandonExecution() -> Bool {
        guard case .following(let image, _) = self else { return false }
        self = .sampling(image)
        return true
    }

    // MARK: Endings

    @discardableResult
    mutating func leave() -> Bool {
        switch self {
        case .leaving, .over: return false
        case .launching, .settling, .sampling, .following: self = .leaving(image, execution)
        }
        return true
    }

    /// The first outcome counts.
    @discardableResult
    mutating func end(_ outcome: Recording.Outcome) -> Bool {
        if case .over = self { return false }
        self = .over(outcome)
        return true
    }
}

/// The facts known about an image before its first instruction.
struct NextImage {
    /// The memory that the former image leaves to it; nil: it has to make its own.
    var area: InheritedAgent?
    /// What the sampling signal does in it, if that need not be asked: our own child has our
    /// filters and clocks and the memory that it was given, and its limits were looked at.
    var knownAction: UInt64?
    /// Where it makes system calls, if it is static and these places were looked for.
    var sites: PreparedSites?
    /// It was noticed after the fact, and is past its first instruction.
    var isLate = false
    /// When the image was executed, if our code in the image before has noted it.
    var executed: MonotonicTime?
}

/// An exec that is about to happen, or to fail.
struct Execution {
    /// The memory that the next image is handed.
    var area: InheritedAgent?
    /// The exec should have happened by then.
    var deadline: MonotonicTime
}

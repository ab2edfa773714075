import ProfileModel

/// One recorded process's signposts: how they are switched on, and what they say.
///
/// Whoever follows the process maps ``SignpostRing/size(events:)`` bytes of shared memory into it and
/// into the recorder, makes this of them, carries out the writes that it asks for, and polls.
final class ProgramSignposts {
    /// What came since the last look.
    struct News {
        /// Each event, in the order in which the program gave them.
        var events: [SignpostEvent] = []
        /// What became complete with them.
        var results: [SignpostPairing.Result] = []
    }

    private let ring: SignpostRing
    /// Where the ring is in the program.
    private let address: UInt64
    private var pairing = SignpostPairing()
    private var states: Set<UInt64> = []

    init(ring: SignpostRing, address: UInt64) {
        self.ring = ring
        self.address = address
    }

    /// What to write so that the signposts of an image are recorded; nothing when it has none, or
    /// they are already. Once the image is mapped: it need not be relocated.
    func activation(of image: LoadedImage) -> [MemoryWrite] {
        SignpostLocator(image).states().flatMap { state in
            states.insert(state).inserted ? SignpostSwitch(state: state).on(ring: address) : []
        }
    }

    /// What to write at the end. An image that is gone meanwhile must be forgotten before.
    func deactivation() -> [MemoryWrite] {
        states.sorted().map { SignpostSwitch(state: $0).off }
    }

    /// Forgets the states of images that were unmapped: what is there now is not to be written to.
    ///
    /// - Parameter images: all that are there.
    func forgetAll(butThoseOf images: [LoadedImage]) {
        states.formIntersection(images.flatMap { SignpostLocator($0).states() })
    }

    /// - Parameter thread: of a thread's id, as the program knows it.
    func poll(thread: (Int32) -> ThreadIndex?) -> News {
        var news = News(events: ring.poll())
        for event in news.events {
            if let result = pairing.add(event, thread: thread(event.thread)) {
                news.results.append(result)
            }
        }
        return news
    }

    /// The last news; what has not ended is closed at `end`. The ring is of no use then.
    func finish(at end: MonotonicTime, thread: (Int32) -> ThreadIndex?) -> News {
        var news = poll(thread: thread)
        news.results += pairing.finish(at: end)
        return news
    }

    /// Whether any image of the program has signposts.
    var isOn: Bool { !states.isEmpty }

    /// Gives the ring's memory back, where the program keeps its mapping.
    func releaseMemory() { ring.release() }

    var losses: SignpostRing.Losses { ring.losses }
    var counts: SignpostPairing.Counts { pairing.counts }
}

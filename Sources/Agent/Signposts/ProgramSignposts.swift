import CSignpost
package import Images
package import ProfileModel

/// The signposts of one recorded process: switches them on, and reads them.
///
/// The owner maps ``SignpostRing/size(events:)`` bytes of shared memory into the process and into
/// the recorder, and makes this from them. It carries out the writes that this returns, and polls.
package final class ProgramSignposts {
    /// The events since the last poll.
    package struct News {
        /// Each event, in the order in which the program wrote them.
        package var events: [SignpostEvent] = []
        /// The intervals and signposts that these events completed.
        package var results: [SignpostPairing.Result] = []
    }

    private let ring: SignpostRing
    /// The ring's address in the program.
    private let address: UInt64
    private var pairing = SignpostPairing()
    private var states: Set<UInt64> = []

    package init(ring: SignpostRing, address: UInt64) {
        self.ring = ring
        self.address = address
    }

    /// The writes that switch on an image's signposts; empty if it has none, or if they are on
    /// already. The image must be mapped, but need not be relocated.
    package func activation(of image: LoadedImage) -> [MemoryWrite] {
        SignpostLocator(image).states().flatMap { state in
            states.insert(state).inserted ? SignpostSwitch(state: state).on(ring: address) : []
        }
    }

    /// The writes for the end. Images that are gone by then must be forgotten first.
    package func deactivation() -> [MemoryWrite] {
        states.sorted().map { SignpostSwitch(state: $0).off }
    }

    /// Forgets the states of images that were unmapped: something else may be at their addresses,
    /// and must not be overwritten.
    ///
    /// - Parameter images: all images that are mapped now.
    package func forgetAll(butThoseOf images: [LoadedImage]) {
        states.formIntersection(images.flatMap { SignpostLocator($0).states() })
    }

    /// - Parameter thread: gives the index for a thread's id, as the program knows it.
    package func poll(thread: (Int32) -> ThreadIndex?) -> News {
        var news = News(events: ring.poll())
        for event in news.events {
            if let result = pairing.add(event, thread: thread(event.thread)) {
                news.results.append(result)
            }
        }
        return news
    }

    /// The last news; intervals that have not ended are closed at `end`. The ring is useless
    /// afterwards.
    package func finish(at end: MonotonicTime, thread: (Int32) -> ThreadIndex?) -> News {
        var news = poll(thread: thread)
        news.results += pairing.finish(at: end)
        return news
    }

    /// True if any image of the program has signposts.
    package var isOn: Bool { !states.isEmpty }

    /// Returns the ring's memory to the kernel, where the program keeps its mapping.
    package func releaseMemory() { ring.release() }

    package var losses: SignpostRing.Losses { ring.losses }
    package var counts: SignpostPairing.Counts { pairing.counts }
}

/// Bytes to write into the program's memory.
package struct MemoryWrite: Hashable, Sendable {
    package var address: UInt64
    package var bytes: [UInt8]
}

/// The writes that switch a module's signposts on and off. Each write may happen while the program
/// runs, in one step or byte by byte; only their order matters.
package struct SignpostSwitch: Hashable, Sendable {
    /// The module's state, as ``SignpostLocator`` found it.
    package var state: UInt64

    /// - Parameter ring: the ring's address in the program. It must stay mapped as long as the
    ///   program lives: a thread may be writing at any time.
    package func on(ring: UInt64) -> [MemoryWrite] {
        [
            off,
            MemoryWrite(address: state &+ Self.ring, bytes: Self.bytes(ring)),
            MemoryWrite(address: state &+ Self.active, bytes: [1]),
        ]
    }

    package var off: MemoryWrite { MemoryWrite(address: state &+ Self.active, bytes: [0]) }

    private static let active = offset(\.active)
    private static let ring = offset(\.ring)

    private static func offset<Value>(
        _ field: KeyPath<firstlight_signpost_state, Value>
    ) -> UInt64 {
        UInt64(MemoryLayout<firstlight_signpost_state>.offset(of: field) ?? 0)
    }

    private static func bytes(_ word: UInt64) -> [UInt8] {
        withUnsafeBytes(of: word.littleEndian) { Array($0) }
    }
}

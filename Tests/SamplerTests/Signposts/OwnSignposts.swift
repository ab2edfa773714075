@preconcurrency import CSignpost
import Glibc
import ProfileModel
import Testing

@testable import Agent
@testable import Images
@testable import ProcessIO
@testable import Sampler

/// The signposts of the test program itself, recorded by the test: as long as ``record(_:)`` lasts.
enum OwnSignposts {
    static var address: UInt64 {
        UInt64(UInt(bitPattern: withUnsafeMutablePointer(to: &firstlight_signpost_state) { $0 }))
    }

    /// The calling thread's id (gettid(2), which is outside of the Glibc module).
    static var thread: Int32 {
        typealias Function = @convention(c) () -> Int32
        guard let address = dlsym(nil, "gettid") else { return 0 }
        return unsafeBitCast(address, to: Function.self)()
    }

    /// The image that holds the tests: the program, which has everything linked in.
    static var image: LoadedImage? {
        LoadedImage(
            programHeaders: auxiliaryValue(3), count: auxiliaryValue(5),
            memory: TargetMemory(pid: getpid()))
    }

    /// Switches them on by what the locator finds, and off again.
    static func record(
        events: Int = SignpostRing.defaultEvents, process: Int32 = getpid(),
        _ body: (ProgramSignposts) throws -> Void
    ) throws {
        let memory = try RingMemory(events: events)
        let ring = SignpostRing(memory: memory.base, events: events, process: process)
        let address = UInt64(UInt(bitPattern: memory.base))
        let signposts = ProgramSignposts(ring: ring, address: address)
        let image = try #require(image)
        let activation = signposts.activation(of: image)
        #expect(activation.count == 3)
        // Nothing to do any more.
        #expect(signposts.activation(of: image).isEmpty)
        activation.forEach(write)
        defer { signposts.deactivation().forEach(write) }
        try body(signposts)
    }

    private static func write(_ write: MemoryWrite) {
        guard let target = UnsafeMutableRawPointer(bitPattern: UInt(write.address)) else { return }
        target.copyMemory(from: write.bytes, byteCount: write.bytes.count)
    }
}

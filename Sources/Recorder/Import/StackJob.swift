import ProfileModel
import Unwind

/// A sample's stack on its way from the file to the recording.
final class StackJob {
    enum Source {
        case snapshot(Snapshot)
        /// As the kernel followed frame pointers, innermost first.
        case chain([UInt64])
        /// No more than where the thread was.
        case instruction(UInt64)
        /// There should have been one.
        case missing
    }

    private var source: Source?
    private(set) var callstack = Callstack(frames: [], truncation: nil)
    /// Once it is interned.
    private(set) var id: StackID?

    init(_ source: Source) { self.source = source }

    var truncation: Truncation? { callstack.truncation }

    /// Roughly what it takes of the memory, in bytes.
    var size: Int {
        switch source {
        case .snapshot(let snapshot): 256 + snapshot.byteCount
        case .chain(let chain): 256 + chain.count * 8
        default: 256
        }
    }

    func unwind(with unwinder: Unwinder) {
        switch source {
        case .snapshot(let snapshot): callstack = unwinder.unwind(snapshot)
        case .chain(let chain): callstack = Self.follow(chain, unwinder)
        case .instruction(let address):
            callstack = Callstack(
                frames: [Self.frame(address, .instruction, unwinder)], truncation: .stackLimit)
        case .missing: callstack = Callstack(frames: [], truncation: .unreadable)
        case nil: break
        }
        source = nil
    }

    /// `PERF_MAX_STACK_DEPTH`: the kernel follows no more.
    private static let longestChain = 127

    private static func follow(_ chain: [UInt64], _ unwinder: Unwinder) -> Callstack {
        let frames = chain.enumerated().map { index, address in
            frame(address, index == 0 ? .instruction : .returnAddress, unwinder)
        }
        if frames.isEmpty { return Callstack(frames: [], truncation: .unreadable) }
        return Callstack(
            frames: frames, truncation: chain.count >= longestChain ? .frameLimit : nil)
    }

    private static func frame(
        _ address: UInt64, _ kind: CodeAddress.Kind, _ unwinder: Unwinder
    ) -> FrameAddress {
        let place = CodeAddress(address, kind)
        guard var frame = unwinder.frame(ofInstruction: place.lookup) else {
            return FrameAddress(module: nil, address: place)
        }
        frame.address = CodeAddress(
            frame.address.value &+ (address &- place.lookup), kind)
        return frame
    }

    func intern(in stacks: inout StackTable) {
        id = stacks.intern(outermostFirst: callstack.frames.reversed())
        callstack.frames = []
    }
}

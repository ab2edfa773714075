import ProfileModel
import Unwind

/// A sample's stack, on its way from the file to the recording.
final class StackJob {
    enum Source {
        case snapshot(Snapshot)
        /// The kernel's frame pointer chain, innermost first.
        case chain([UInt64])
        /// Only the thread's position is known.
        case instruction(UInt64)
        /// There should have been a stack.
        case missing
    }

    private var source: Source?
    /// Like ``Snapshot/kernelChain``.
    private let kernelChain: [UInt64]
    private(set) var truncation: Truncation?
    /// Set once it is unwound. It refers to the unwinding worker's table until ``renumber(_:)`` is
    /// called.
    private(set) var id: StackID?

    init(_ source: Source, kernelChain: [UInt64] = []) {
        self.source = source
        self.kernelChain = kernelChain
    }

    /// Its approximate size in memory, in bytes.
    var size: Int {
        let own =
            switch source {
            case .snapshot(let snapshot): snapshot.byteCount
            case .chain(let chain): chain.count * 8
            default: 0
            }
        return 256 + own + kernelChain.count * 8
    }

    /// - Returns: the number of its frames.
    func unwind(with interner: inout StackInterner) -> Int {
        defer { source = nil }
        let count = unwindProgram(with: &interner)
        id = interner.intern(kernelChain: kernelChain, calledFrom: id)
        return count + kernelChain.count
    }

    private func unwindProgram(with interner: inout StackInterner) -> Int {
        switch source {
        case .snapshot(let snapshot):
            (id, truncation) = interner.intern(snapshot)
            return interner.frameCount
        case .chain(let chain):
            follow(chain, &interner)
            return chain.count
        case .instruction(let address):
            id = interner.intern(Self.frame(address, .instruction, interner.unwinder))
            truncation = .stackLimit
            return 1
        case .missing:
            truncation = .unreadable
            return 0
        case nil: return 0
        }
    }

    /// `PERF_MAX_STACK_DEPTH`: the kernel's limit.
    private static let longestChain = 127

    private func follow(_ chain: [UInt64], _ interner: inout StackInterner) {
        for index in chain.indices.reversed() {
            let kind: CodeAddress.Kind = index == 0 ? .instruction : .returnAddress
            let frame = Self.frame(chain[index], kind, interner.unwinder)
            id = interner.intern(frame, calledFrom: id)
        }
        truncation = chain.isEmpty ? .unreadable : nil
        if chain.count >= Self.longestChain { truncation = .frameLimit }
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

    /// - Parameter ids: the recording's handles for the handles of the worker's table.
    func renumber(_ ids: [StackID]) { id = id.map { ids[Int($0.rawValue)] } }
}

import Architecture
import ELF

/// The calls of a file's functions by their distance, searched for on demand.
struct CallSearch {
    private let file: ELFFile
    private var known: [UInt64: [UInt64]?] = [:]

    /// More code is not searched.
    private static let mostCode: UInt64 = 64 << 20
    private static let chunk: UInt64 = 1 << 20
    /// Limits: further functions, and functions with more calls, get no answer.
    private static let mostFunctions = 64
    private static let mostCalls = 256

    init(_ file: ELFFile) { self.file = file }

    /// The return addresses of a function's calls, as the file's own addresses; nil: there are too
    /// many.
    mutating func returnAddresses(ofCallsTo function: UInt64) -> [UInt64]? {
        if let answer = known[function] { return answer }
        guard known.count < Self.mostFunctions else { return nil }
        let answer = search(function)
        known[function] = .some(answer)
        return answer
    }

    private func search(_ function: UInt64) -> [UInt64]? {
        var result: [UInt64] = []
        var left = Self.mostCode
        for segment in file.segments where segment.isLoaded && segment.isExecutable {
            guard segment.fileSize <= left else { return nil }
            left -= segment.fileSize
            var start: UInt64 = 0
            while start < segment.fileSize {
                // A call may lie across the end of a piece.
                let count = min(Self.chunk + UInt64(DirectCall.length), segment.fileSize - start)
                let code = file.mapped(at: segment.address &+ start, count: Int(count))
                result += DirectCall.returns(
                    of: code, at: segment.address &+ start, to: function,
                    beginningIn: Int(Self.chunk))
                guard result.count <= Self.mostCalls else { return nil }
                start += Self.chunk
            }
        }
        return result
    }
}

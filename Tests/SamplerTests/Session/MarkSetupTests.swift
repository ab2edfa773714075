import ProfileModel
import Testing

@testable import Sampler

/// A session on a made process: what it does to place marks.
extension TraceSessionTests {
    /// As a thread may set it: there is nothing above.
    @Test func aStackPointerAtTheVeryEnd() throws {
        let session = launched()
        let thread = try #require(session.threads[process.pid])
        for pointer in [.max, .max - 4095, .max - 4096] as [UInt64] {
            let registers = Registers(programCounter: 0x40_1000, stackPointer: pointer)
            #expect(!session.isIn(ChangedCode([0x1000..<0x2000]), thread, registers))
        }
    }
}

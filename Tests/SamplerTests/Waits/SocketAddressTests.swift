import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

@Suite struct SocketAddressTests {
    private func text(_ bytes: [UInt8]) -> String? { SocketAddress(bytes)?.description }

    @Test func addresses() {
        #expect(text([2, 0, 0x15, 0x38, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]) == "127.0.0.1:5432")
        let loopback = [UInt8](repeating: 0, count: 15) + [1]
        #expect(text([10, 0, 0, 80, 0, 0, 0, 0] + loopback + [0, 0, 0, 0]) == "[::1]:80")
        #expect(text([1, 0] + Array("/run/x.sock".utf8) + [0, 0]) == "/run/x.sock")
        #expect(text([1, 0] + Array("/run/x.sock".utf8)) == "/run/x.sock")
        #expect(text([1, 0, 0] + Array("bus".utf8)) == "@bus")
    }

    @Test func noAddresses() {
        #expect(text([]) == nil && text([2]) == nil && text([2, 0, 1, 2, 3]) == nil)
        #expect(text([1, 0]) == nil && text([1, 0, 0]) == nil && text([1, 0, 0, 0, 0]) == nil)
        #expect(text([10, 0, 0, 80, 0, 0, 0, 0, 1]) == nil)
        // AF_NETLINK
        #expect(text([16, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]) == nil)
    }

    @Test func anyBytes() {
        var random = SeededNumbers(seed: 5)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...130, using: &random)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            if count > 1 {
                (bytes[0], bytes[1]) = ([1, 2, 10].randomElement(using: &random) ?? 1, 0)
            }
            _ = text(bytes)
        }
    }
}

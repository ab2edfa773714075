import TestSupport
import Testing

@testable import ProcessIO
@testable import Readiness
@testable import Sampler

@Suite struct SocketFormatsTests {
    private static let heading =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

    @Test func links() {
        func inode(_ text: String) -> UInt64? { SocketFormats.inode(ofLink: Array(text.utf8)) }
        #expect(inode("socket:[12345]") == 12345)
        for text in ["", "socket:[]", "socket:[12", "socket:[x]", "pipe:[12345]", "/socket:[1]"] {
            #expect(inode(text) == nil, "\(text)")
        }
    }

    @Test func listeningTCPSockets() {
        let table =
            Self.heading + """
                   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0
                   1: 00000000:0016 00000000:0000 0A 00000000:00000005 00:00000000 00000000     0        0 22 1 0 100 0 0 10 0
                   2: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0 20 4 30 10 -1
                   3: 0100007F:1F91 0100007F:D432 06 00000000:00000000 03:00000A8C 00000000     0        0 0 3 0

                """
        let found = SocketFormats.listeningTCP(text(table))
        #expect(found.map(\.inode) == [4711, 22])
        #expect(found.map(\.port) == [8080, 22])
    }

    @Test func listeningTCPSocketsOfVersion6() {
        let table =
            Self.heading + """
                   0: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 99 1 0 100 0 0 10 0

                """
        let found = SocketFormats.listeningTCP(text(table))
        #expect(found.map(\.inode) == [99])
        #expect(found.map(\.port) == [8080])
    }

    @Test func listeningUnixSockets() {
        let table = """
            Num       RefCount Protocol Flags    Type St Inode Path
            0000000000000000: 00000002 00000000 00010000 0001 01 20501 /run/a socket
            0000000000000000: 00000003 00000000 00000000 0001 03 20502 /run/a socket
            0000000000000000: 00000002 00000000 00010000 0005 01 20503
            0000000000000000: 00000002 00000000 00000000 0002 01 20504 @abstract

            """
        #expect(SocketFormats.listeningUnix(text(table)) == [20501, 20503])
    }

    /// For any contents, nothing is found that is not there, and nothing traps.
    @Test func damagedTables() {
        var random = SeededNumbers(seed: 4)
        let table = Array(
            (Self.heading
                + "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 0  0  0 7 1\n")
                .utf8)
        for _ in 0..<2_000 {
            var bytes = table
            for _ in 0..<3 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
            #expect(SocketFormats.listeningTCP(ProcText(bytes)).count <= 2)
            #expect(SocketFormats.listeningUnix(ProcText(bytes)).count <= 2)
        }
    }
}

import CSystem
import Foundation
import Glibc
import ProfileModel
import Synchronization
import System
import TestSupport
import Testing

@testable import ProcessIO
@testable import Readiness
@testable import Sampler

/// The process between a program and its compositor, with ends of the test's own.
@Suite struct WaylandRelayTests {
    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .acquiring) }
        func set() { value.store(true, ordering: .releasing) }
    }

    /// Reads as fast as it comes, and is the same to the program as the compositor itself.
    @Test func bytesPassBothWays() throws {
        let compositor = try MadeCompositor()
        let (relay, client) = try compositor.relayedClient()
        let server = try compositor.accept()
        var random = SeededNumbers(seed: 3)
        for (from, to) in [(client, server), (server, client)] {
            let bytes = (0..<1_000_000).map { _ in UInt8.random(in: 0...255, using: &random) }
            let isSent = Flag()
            #expect(startThread { if from.send(bytes) { isSent.set() } })
            #expect(try to.read(bytes.count) == bytes)
            #expect(eventually { isSent.isSet })
        }
        _ = relay
    }

    /// Descriptors come with the bytes that they were sent with, in their order, and as many together.
    @Test func descriptorsPass() throws {
        let compositor = try MadeCompositor()
        let (relay, client) = try compositor.relayedClient()
        let server = try compositor.accept()
        for (from, to) in [(client, server), (server, client)] {
            let counts = [1, 28, 0, 3, 253, 2]
            for (index, count) in counts.enumerated() {
                let sent = try (0..<count).map { try MadeFile("\(index).\($0)") }
                let bytes = [UInt8](repeating: UInt8(index), count: 5)
                #expect(from.send(bytes, with: sent.map(\.descriptor)))
                let (received, files) = try to.receive(5)
                #expect(received == bytes)
                #expect(files.map(\.contents) == (0..<count).map { "\(index).\($0)" })
            }
        }
        _ = relay
    }

    /// Descriptors are there when the message to which they belong is read, even if the reader
    /// comes late.
    @Test func descriptorsAreNeverLate() throws {
        let compositor = try MadeCompositor()
        let (relay, client) = try compositor.relayedClient()
        let server = try compositor.accept()
        // More than the sockets and the relay hold together.
        let isSent = Flag()
        #expect(
            startThread {
                for index in 0..<400 {
                    guard let file = try? MadeFile("\(index)"),
                        client.send(
                            [UInt8](repeating: UInt8(index % 251), count: 3_000),
                            with: [file.descriptor])
                    else { return }
                }
                isSent.set()
            })
        var files: [String] = []
        for index in 0..<400 {
            var bytes: [UInt8] = []
            while bytes.count < 3_000 {
                let (part, more) = try server.receive(3_000 - bytes.count)
                bytes += part
                files += more.map(\.contents)
                #expect(files.count > index)
            }
            #expect(bytes.allSatisfy { $0 == UInt8(index % 251) })
        }
        #expect(files == (0..<400).map { "\($0)" })
        #expect(eventually { isSent.isSet })
        _ = relay
    }

    /// A compositor that does not read blocks its program as it would without us, and no other
    /// program.
    @Test func aSlowReaderHoldsUpItsOwnAlone() throws {
        let compositor = try MadeCompositor()
        let (relay, first) = try compositor.relayedClient()
        let slow = try compositor.accept()
        let block = [UInt8](repeating: 1, count: 60_000)
        var sent = 0
        // Until the sockets are full, twice.
        #expect(
            eventually {
                while case let count = first.sendNow(block), count > 0 { sent += count }
                var entry = pollfd(fd: first.descriptor, events: Int16(POLLOUT), revents: 0)
                return poll(&entry, 1, 200) == 0
            })
        let second = try compositor.connect(through: relay)
        let other = try compositor.accept()
        #expect(second.send([1, 2, 3]))
        #expect(try other.read(3) == [1, 2, 3])
        #expect(try slow.read(sent).count == sent)
        #expect(first.send([9]))
        #expect(try slow.read(1) == [9])
    }

    @Test(arguments: [true, false]) func anEndIsPassedOnBehindWhatCameBefore(
        isClients: Bool
    ) throws {
        let compositor = try MadeCompositor()
        let (relay, client) = try compositor.relayedClient()
        let server = try compositor.accept()
        let (from, to) = isClients ? (client, server) : (server, client)
        #expect(from.send([1, 2, 3]))
        from.close()
        #expect(try to.read(4) == [1, 2, 3])
        #expect(eventually { to.isHungUp })
        _ = relay
    }

    /// One direction alone: the other goes on.
    @Test func aHalfClosedConnection() throws {
        let compositor = try MadeCompositor()
        let (relay, client) = try compositor.relayedClient()
        let server = try compositor.accept()
        #expect(client.send([1]))
        shutdown(client.descriptor, Int32(SHUT_WR))
        #expect(try server.read(2) == [1])
        #expect(!server.isHungUp)
        #expect(server.send([7, 8]))
        #expect(try client.read(2) == [7, 8])
        server.close()
        #expect(try client.read(1) == [])
        _ = relay
    }

    @Test func aWindowIsReported() throws {
        let compositor = try MadeCompositor()
        let (relay, client) = try compositor.relayedClient()
        let server = try compositor.accept()
        let text = WireText.toplevel()
        #expect(client.send(text.bytes))
        #expect(try server.read(text.bytes.count) == text.bytes)
        var configure = WireText()
        configure.message(6, 0, [1])
        let before = MonotonicTime.now
        #expect(server.send(configure.bytes))
        #expect(
            eventually { () -> Bool in
                relay.look(); return relay.configured != nil
            })
        #expect(relay.framed == nil)
        let configured = try #require(relay.configured)
        #expect(configured >= before && configured <= .now)
        var frame = WireText()
        frame.attach(3)
        frame.commit()
        #expect(client.send(frame.bytes))
        // At the program's end the relay waits for its last message.
        relay.lastLook()
        #expect(relay.framed != nil)
        #expect(relay.takeLosses() == 0)
    }

    /// No Wayland: said once, and everything passes on.
    @Test func nonsensePasses() throws {
        let compositor = try MadeCompositor()
        let (relay, client) = try compositor.relayedClient()
        let server = try compositor.accept()
        let nonsense = [UInt8](repeating: 0, count: 64)
        for _ in 0..<3 {
            #expect(client.send(nonsense))
            #expect(try server.read(64) == nonsense)
        }
        relay.lastLook()
        #expect(relay.takeLosses() == 1)
        #expect(relay.framed == nil)
    }

    /// Without us a link leads to the compositor, and connected programs stay connected; when the
    /// program has ended, nothing is left.
    @Test func weAreKilled() throws {
        let compositor = try MadeCompositor()
        let program = try Child(["sleep", "1000"])
        var relayed: (relay: WaylandRelay?, client: MadeEnd) = try compositor.relayedClient()
        relayed.relay?.began(program.pid)
        let server = try compositor.accept()
        let path = compositor.relayPath
        relayed.relay = nil
        #expect(eventually { (try? Self.target(of: path)) == compositor.path })
        #expect(relayed.client.send([5]))
        #expect(try server.read(1) == [5])
        let late = try MadeEnd(connectingTo: path)
        let direct = try compositor.accept()
        #expect(direct.peer == getpid())
        late.close()
        relayed.client.close()
        #expect(try server.read(1) == [])
        #expect(access(path, F_OK) == 0)
        kill(program.pid, SIGKILL)
        #expect(eventually { access((path as NSString).deletingLastPathComponent, F_OK) != 0 })
    }

    /// A process is left that may want to connect: the link stays.
    @Test func aDaemonStays() throws {
        let compositor = try MadeCompositor()
        var relay: WaylandRelay? = try compositor.relay()
        let path = compositor.relayPath
        let daemon = try Child(["env", "WAYLAND_DISPLAY=\(path)", "sleep", "1000"])
        // The kernel names a program that is executed before it shows its environment.
        #expect(
            eventually {
                Self.contents("/proc/\(daemon.pid)/comm") == "sleep\n"
                    && Self.contents("/proc/\(daemon.pid)/environ").contains(path)
            })
        let client = try MadeEnd(connectingTo: path)
        let number = try compositor.accept().peer
        #expect(number != getpid())
        client.close()
        #expect(relay != nil)
        relay = nil
        #expect(eventually { Self.hasEnded(number) })
        #expect(try Self.target(of: path) == compositor.path)
        unlink(path)
        rmdir((path as NSString).deletingLastPathComponent)
        _ = daemon
    }

    @Test func aFrameIsEnough() throws {
        let compositor = try MadeCompositor()
        let (relay, client) = try compositor.relayedClient()
        let server = try compositor.accept()
        var text = WireText.toplevel()
        text.attach(3)
        text.commit()
        #expect(client.send(text.bytes))
        #expect(try server.read(text.bytes.count) == text.bytes)
        let path = compositor.relayPath
        #expect(eventually { (try? Self.target(of: path)) == compositor.path })
        _ = relay
    }

    /// As libwayland-client does it: WAYLAND_SOCKET goes before WAYLAND_DISPLAY.
    @Test func aConnectionThatIsInherited() throws {
        var ends: [Int32] = [-1, -1]
        let code = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        try #require(code == 0)
        let server = MadeEnd(ends[1])
        let number = String(ends[0])
        let found = try WaylandDisplay { $0 == "WAYLAND_SOCKET" ? number : nil }
        let target = try #require(found)
        var setting = ProgramSetting()
        let relay = try WaylandRelay(to: target, setting: &setting)
        #expect(setting.variables == [:])
        #expect(fcntl(ends[0], F_GETFD) == 0)
        let client = MadeEnd(dup(ends[0]))
        setting.close()
        #expect(fcntl(ends[0], F_GETFD) == -1)
        #expect(client.send([1, 2]))
        #expect(try server.read(2) == [1, 2])
        #expect(server.send([3]))
        #expect(try client.read(1) == [3])
        client.close()
        #expect(try server.read(1) == [])
        _ = relay
    }

    @Test func whereTheCompositorIs() throws {
        func target(_ variables: [String: String]) throws -> String? {
            try WaylandDisplay { variables[$0] }?.path
        }
        #expect(try target([:]) == nil)
        #expect(try target(["XDG_RUNTIME_DIR": "/run/x"]) == nil)
        #expect(
            try target(["XDG_RUNTIME_DIR": "/run/x", "WAYLAND_DISPLAY": "wayland-1"])
                == "/run/x/wayland-1")
        #expect(try target(["WAYLAND_DISPLAY": "/a/b"]) == "/a/b")
        #expect(throws: SystemError.self) { try target(["WAYLAND_DISPLAY": "wayland-1"]) }
        for number in ["x", "-1", "1", "999999", ""] {
            #expect(throws: SystemError.self) { try target(["WAYLAND_SOCKET": number]) }
        }
    }

    /// The compositor is gone: the program sees an end.
    @Test func aCompositorThatIsGone() throws {
        let compositor = try MadeCompositor()
        let relay = try compositor.relay()
        compositor.stop()
        let client = try compositor.connect(through: relay)
        #expect(try client.read(1) == [])
    }

    private static func contents(_ path: String) -> String {
        var buffer = ReadBuffer()
        buffer.readAll(path: path)
        return String(decoding: buffer.contents, as: UTF8.self)
    }

    /// A process whose parent does not wait for it stays a zombie.
    private static func hasEnded(_ pid: Int32) -> Bool {
        kill(pid, 0) != 0 || contents("/proc/\(pid)/stat").contains(") Z ")
    }

    private static func target(of link: String) throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: link)
    }
}

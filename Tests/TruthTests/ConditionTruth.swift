import EndToEndSupport
import TestSupport
import Testing

extension Measured {
    /// How slow a slow disk and a slow link are, by the clock of the program that uses them.
    @Suite struct SlowConditions {
        /// On a disk: /tmp may be in memory.
        private let scratch: Scratch

        init() throws { scratch = try Scratch(in: "/var/tmp") }

        /// - Parameter script: of Python, prints one number.
        /// - Returns: that number.
        private func printed(by script: String, under options: [String]) throws -> Double {
            let python = try #require(Tool.find("python3"))
            let finished = try Firstlight.recording(
                [python, "-I", "-S", "-c", script], to: scratch("recorded"),
                options: ["--quiet"] + options
            ).run()
            try #require(finished.status == 0, "\(finished)")
            return try #require(Double(finished.output.dropLast()), "\(finished)")
        }

        /// The file is written, and forgotten by the page cache, before the clock starts.
        @Test(.needsRoot) func aDisk() throws {
            let script = """
                import os, time
                file = os.open('\(scratch("data"))', os.O_RDWR | os.O_CREAT)
                os.write(file, bytes(3 << 20))
                os.fsync(file)
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                os.lseek(file, 0, os.SEEK_SET)
                start = time.monotonic()
                count = 0
                while part := os.read(file, 1 << 16): count += len(part)
                print(count / (time.monotonic() - start))
                """
            try Truth.of("slow disk") { figures in
                for kibibytes in [500, 1024] {
                    let (name, rate) = ("\(kibibytes)K", Double(kibibytes) * 1024)
                    figures.check(
                        "--disk \(name)", try printed(by: script, under: ["--disk", name]),
                        unit: "B/s", truth: rate, least: rate * 0.9, most: rate * 1.1)
                }
            }
        }

        /// From the machine to the program: the rate of the data, and the time for a connection,
        /// which needs a way there and one back.
        @Test(.needsRoot, .needs("slirp4netns")) func aLink() throws {
            try Truth.of("slow link") { figures in
                for (name, rate, delay) in [("4mbit,50ms", 4e6, 0.1), ("1mbit,10ms", 1e6, 0.02)] {
                    figures.check(
                        "--network \(name): rate", try received(under: name), unit: "bit/s",
                        truth: rate, least: rate * 0.92, most: rate * 1.02)
                    figures.check(
                        "--network \(name): connection", try connected(under: name), unit: "s",
                        truth: delay, least: delay, most: delay * 1.2 + 0.01)
                }
            }
        }

        /// Bits a second, without the packets' heads, once the connection has found its pace.
        private func received(under network: String) throws -> Double {
            let output = try Channel()
            var command = Command(["python3", "-I", "-S", "-c", Self.server])
            command.output = output.writer
            let server = try command.start()
            let port = try #require(try output.line())
            let script = """
                import socket, time
                peer = socket.create_connection(('10.0.2.2', \(port)))
                count = 0
                while count < 200_000: count += len(peer.recv(1 << 16))
                start, count = time.monotonic(), 0
                while part := peer.recv(1 << 16): count += len(part)
                print(count * 8 / (time.monotonic() - start))
                """
            let rate = try printed(by: script, under: ["--network", network])
            _ = try server.finish()
            return rate
        }

        private static let server = """
            import socket
            listener = socket.create_server(('127.0.0.1', 0))
            print(listener.getsockname()[1], flush=True)
            peer, _ = listener.accept()
            peer.sendall(bytes(800_000))
            peer.close()
            """

        /// In seconds: the least of three.
        private func connected(under network: String) throws -> Double {
            let script = """
                import socket, time
                def attempt():
                    start = time.monotonic()
                    try: socket.create_connection(('10.0.2.2', 1), 5)
                    except OSError: pass
                    return time.monotonic() - start
                attempt()  # asks for the address, too
                print(min(attempt() for _ in range(3)))
                """
            return try printed(by: script, under: ["--network", network])
        }
    }
}

import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import Conditions

extension LaunchedTests {
    /// Programs with a network of their own.
    @Suite struct NetworkTests {
        private func setting(_ net: NetHolder) -> ChildSetting {
            var setting = ChildSetting()
            setting.namespaces = net.entered
            setting.changesMounts = net.changesMounts
            return setting
        }

        private func link(
            down: LinkProfile.Direction, up: LinkProfile.Direction, usesLine: Bool = false
        ) throws -> NetHolder {
            let profile = LinkProfile(name: "test", down: down, up: up)
            return try NetHolder(
                .link(profile), binds: [], reachesOutside: false, usesLine: usesLine)
        }

        @Test func inAirplaneModeThereIsNoRoute() throws {
            var request = ConditionRequest()
            request.network = try NetworkCondition(parsing: "airplane")
            let conditions = try LaunchConditions(request, program: python)
            let code = """
                import errno, socket
                here = socket.create_server(('127.0.0.1', 0))
                socket.create_connection(here.getsockname())
                try: socket.create_connection(('198.51.100.1', 80), 5)
                except OSError as error: print(errno.errorcode[error.errno])
                """
            let end = try TestLaunch.run([python, "-I", "-c", code], in: conditions.childSetting)
            #expect(end.output == "ENETUNREACH\n")
            #expect(conditions.measured(until: []).network == "airplane")
        }

        /// Its ids and its rights stay the same.
        @Test func theProgramStaysWhoItIs() throws {
            var request = ConditionRequest()
            request.network = try NetworkCondition(parsing: "none")
            let conditions = try LaunchConditions(request, program: python)
            let code = "import os; print(os.getuid(), os.geteuid(), os.getgid(), os.getcwd())"
            let inside = try TestLaunch.run(
                [python, "-I", "-c", code], in: conditions.childSetting)
            let outside = try TestLaunch.run([python, "-I", "-c", code])
            #expect(inside.output == outside.output)
        }

        /// Bits a second, as the program itself sees them, from before it asks for them to its last piece,
        /// without its first one: never more than the link lets through, however late the program gets
        /// a core.
        private static let client = """
            import socket, sys, time
            start = time.monotonic()
            peer = socket.create_connection(('10.0.2.2', 5000))
            def rate(step):
                first, count = step(), 0
                while size := step(): count += size
                return count * 8 / (time.monotonic() - start)
            print(rate(lambda: len(peer.recv(1 << 16))))
            """
        private static let server = """
            import socket, sys
            socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            listener = socket.create_server(('10.0.2.2', 5000))
            print('ready', flush=True)
            peer, _ = listener.accept()
            peer.sendall(bytes(int(sys.argv[1])))
            peer.close()
            """

        @Test(arguments: [(2_000_000, 400_000), (780_000, 150_000)])
        func aLinkIsAsSlowAsAskedFor(_ rate: Int64, _ bytes: Int) throws {
            let net = try link(down: .init(rate: rate), up: .init(rate: rate / 2))
            try expect(rate) { try received(through: net, bytes: bytes) }
        }

        /// It is no faster than requested, whatever else the machine does. Without a limit it is a
        /// thousand times as fast.
        private func expect(_ rate: Int64, _ measured: () throws -> Double) throws {
            let seen = try measured()
            #expect(seen > 0 && seen / Double(rate) < 1.15, "\(seen) bits a second")
        }

        /// How fast it comes to the program.
        private func received(through net: NetHolder, bytes: Int) throws -> Double {
            var far = ChildSetting()
            far.namespaces = net.router
            let server = try TestLaunch([python, "-I", "-c", Self.server, "\(bytes)"], in: far)
            server.start()
            #expect(try server.line() == "ready")
            let client = try TestLaunch.run([python, "-I", "-c", Self.client], in: setting(net))
            return try #require(Double(client.output.dropLast()), "\(client.output)")
        }

        @Test func theProgramsOutputIsSlow() throws {
            let net = try link(down: .init(), up: .init(rate: 1_000_000))
            try expect(1_000_000) { try sent(through: net, bytes: 200_000) }
        }

        /// How fast it comes from the program.
        private func sent(through net: NetHolder, bytes: Int) throws -> Double {
            var far = ChildSetting()
            far.namespaces = net.router
            let receiver = Self.client.split(separator: "\n").map(String.init)
                .map {
                    $0.hasPrefix("peer =")
                        ? "listener = socket.create_server(('10.0.2.2', 5000))\n"
                            + "print('ready', flush=True)\npeer, _ = listener.accept()" : $0
                }.joined(separator: "\n")
            let server = try TestLaunch([python, "-I", "-c", receiver], in: far)
            server.start()
            #expect(try server.line() == "ready")
            let sender = """
                import socket
                socket.create_connection(('10.0.2.2', 5000)).sendall(bytes(\(bytes)))
                """
            let client = try TestLaunch.run([python, "-I", "-c", sender], in: setting(net))
            #expect(client.status == 0)
            return try #require(Double(try server.line()))
        }

        @Test func lostPacketsAreLost() throws {
            let net = try NetHolder(
                try NetworkCondition(parsing: "100% Loss"), binds: [], reachesOutside: false)
            let code = """
                import socket
                try: socket.create_connection(('198.51.100.1', 80), 0.3)
                except TimeoutError: print('lost')
                except OSError as error: print(error)
                """
            let end = try TestLaunch.run([python, "-I", "-c", code], in: setting(net))
            #expect(end.output == "lost\n")
        }

        /// By the kernel, where that can, and by a process of ours.
        @Test(arguments: [false, true]) func aDelay(usesLine: Bool) throws {
            let net = try link(
                down: .init(delay: 100), up: .init(delay: 50), usesLine: usesLine)
            let code = """
                import socket, time
                def attempt():
                    start = time.monotonic()
                    try: socket.create_connection(('10.0.2.2', 5001), 5)
                    except ConnectionRefusedError: return time.monotonic() - start
                attempt()  # asks for the address, too
                print(min(attempt() for _ in range(3)))
                """
            let end = try TestLaunch.run([python, "-I", "-c", code], in: setting(net))
            let seconds = try #require(Double(end.output.dropLast()), "\(end.output)")
            // The best of three. Any more time is the machine's, which other tests use, too.
            #expect(seconds >= 0.15, "\(seconds)")
        }

        @Test func aRateByAProcessOfOurs() throws {
            let net = try link(
                down: .init(rate: 2_000_000, delay: 20), up: .init(rate: 500_000, delay: 20),
                usesLine: true)
            try expect(2_000_000) { try received(through: net, bytes: 400_000) }
        }

        @Test func someIsLost() throws {
            let net = try link(down: .init(loss: 0.5), up: .init(), usesLine: true)
            var far = ChildSetting()
            far.namespaces = net.router
            let answering = """
                import socket
                socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                socket.bind(('10.0.2.2', 5000))
                print('ready', flush=True)
                while True: socket.sendto(*socket.recvfrom(100))
                """
            let server = try TestLaunch([python, "-I", "-c", answering], in: far)
            server.start()
            #expect(try server.line() == "ready")
            let asking = """
                import socket, time
                socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                socket.settimeout(0.05)
                def is_answered():
                    socket.sendto(b'x', ('10.0.2.2', 5000))
                    try: return len(socket.recv(100))
                    except TimeoutError: return 0
                # Until the answer to who has the address has come through, all waits for that.
                while not is_answered(): pass
                # However late an answer is on a busy machine: it is no loss.
                for number in range(200):
                    socket.sendto(b'%d' % number, ('10.0.2.2', 5000))
                    time.sleep(0.001)
                socket.settimeout(2)
                answers = set()
                try:
                    while True: answers.add(socket.recv(100))
                except TimeoutError: pass
                print(len(answers - {b'x'}))
                """
            let end = try TestLaunch.run([python, "-I", "-c", asking], in: setting(net))
            // Five standard deviations of 200 answers.
            let count = try #require(Int(end.output.dropLast()), "\(end.output)")
            #expect(abs(count - 100) < 36, "\(count)")
        }

        /// A fast link is none with slow names.
        @Test func slowNamesAloneAreRefused() throws {
            var request = ConditionRequest()
            request.network = try NetworkCondition(parsing: "high latency dns")
            #expect {
                try LaunchConditions(request, program: python)
            } throws: { error in
                guard let error = error as? ConditionError else { return false }
                return error.exitStatus == 125
                    && error.description.contains("name servers")
                    && error.description.contains("--network ,1500ms")
            }
        }

        private static let hasRelay =
            Spawning.find("slirp4netns") != nil && access("/dev/net/tun", R_OK | W_OK) == 0
            || isContinuousIntegration && isRoot

        @Test(.enabled(if: hasRelay, "slirp4netns is missing, or may not open its interface"))
        func behindTheLinkIsTheMachine() throws {
            var request = ConditionRequest()
            request.network = try NetworkCondition(parsing: "4mbit")
            let conditions = try LaunchConditions(request, program: python)
            try expect(4_000_000) { try received(fromOutside: conditions.childSetting) }
            let names = try TestLaunch.run(
                ["/bin/cat", "/etc/resolv.conf"], in: conditions.childSetting)
            #expect(names.output == "nameserver 10.0.2.3\n")
        }

        /// How fast it comes to a program in this setting from one that is in none.
        private func received(fromOutside setting: ChildSetting) throws -> Double {
            let server = try TestLaunch(
                [python, "-I", "-c", Self.outsideServer], in: ChildSetting())
            server.start()
            let port = try server.line()
            let code = Self.client.split(separator: "\n")
                .map { $0.hasPrefix("peer =") ? $0.replacing("5000", with: port) : $0 }
                .joined(separator: "\n")
            let end = try TestLaunch.run([python, "-I", "-c", code], in: setting)
            return try #require(Double(end.output.dropLast()), "\(end.output)")
        }

        private static let outsideServer = """
            import socket
            listener = socket.create_server(('127.0.0.1', 0))
            print(listener.getsockname()[1], flush=True)
            peer, _ = listener.accept()
            peer.sendall(bytes(800_000))
            peer.close()
            """

        @Test(.enabled(if: !hasRelay, "there is a way out"))
        func withoutAWayOutALinkIsRefused() throws {
            var request = ConditionRequest()
            request.network = try NetworkCondition(parsing: "1mbit")
            #expect {
                try LaunchConditions(request, program: python)
            } throws: { error in
                guard let error = error as? ConditionError else { return false }
                return error.exitStatus == 125
                    && (error.description.contains("slirp4netns")
                        || error.description.contains("/dev/net/tun"))
            }
        }
    }
}

import Glibc
import ProfileModel
import Testing

@testable import Conditions

extension LaunchedTests {
    /// Processes and files that remain between launches.
    @Suite struct CleaningTests {
        /// The parent of orphans, as we are; it never waits for one (SIGCHLD is ignored).
        private static let reaper = """
            import ctypes, signal, subprocess, sys
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
            pipe = subprocess.Popen(['/bin/sh', '-c', sys.argv[1]], stdout=subprocess.PIPE).stdout
            print(pipe.readline().decode().strip(), flush=True)
            sys.stdin.read()
            signal.pause()
            """

        private func left(
            _ script: String, endsDaemons: Bool, patience: Int64 = 10_000
        ) throws -> (first: [LeftBehind], second: [LeftBehind]) {
            let reaper = try TestLaunch(
                [python, "-I", "-c", Self.reaper, script], in: ChildSetting())
            reaper.start()
            #expect(try reaper.line() == "ready")
            let cleaner = Cleaner(patience: .milliseconds(patience), root: reaper.pid)
            let first = cleaner.clean(endsDaemons: endsDaemons)
            let second = cleaner.clean(endsDaemons: true)
            return (first, second)
        }

        @Test func daemonsAreNamedAndRunOn() throws {
            let found = try left(
                "sleep 1001 & setsid sh -c 'echo ready; kill -STOP $$' & wait", endsDaemons: false)
            #expect(found.first.filter { !$0.isDaemon }.map(\.end) == [.terminated, .terminated])
            let daemons = found.first.filter(\.isDaemon)
            #expect(daemons.map(\.name) == ["sh"])
            #expect(daemons.map(\.end) == [.running])
            #expect(found.second.map(\.pid) == daemons.map(\.pid))
            #expect(found.second.map(\.end) == [.terminated])
        }

        @Test func daemonsAreEnded() throws {
            let found = try left(
                "setsid sh -c 'sleep 1001 & echo ready; exec sleep 1002' & wait",
                endsDaemons: true)
            #expect(found.first.count == 3)
            #expect(found.first.allSatisfy { $0.end == .terminated })
            #expect(found.second.isEmpty)
        }

        @Test func aProcessThatIgnoresTheSignalIsKilled() throws {
            let found = try left(
                "trap '' TERM; echo ready; while :; do sleep 1000; done", endsDaemons: false,
                patience: 300)
            #expect(found.first.contains { $0.name == "sh" && $0.end == .killed })
            #expect(found.second.isEmpty)
        }

        @Test func oneThatIsStoppedHears() throws {
            let found = try left(
                "sleep 1001 & kill -STOP $!; echo ready; exec sleep 1002", endsDaemons: false)
            #expect(found.first.map(\.end) == [.terminated, .terminated])
        }

        /// A process whose first thread has ended looks like a zombie.
        @Test func aProcessWithoutItsFirstThreadIsEnded() throws {
            let script = """
                import ctypes, os, threading, time
                def wait():
                    while open("/proc/self/stat").read().rsplit(")", 1)[1].split()[0] != "Z": pass
                    os.write(1, b"ready\\n")
                    time.sleep(1000)
                threading.Thread(target=wait).start()
                ctypes.CDLL(None).pthread_exit(None)
                """
            let found = try left("exec \(python) -I -c '\(script)'", endsDaemons: false)
            #expect(found.first.map(\.end) == [.terminated])
            #expect(found.second.isEmpty)
        }

        @Test func childrenThatAreKeptAreLeftAlone() throws {
            let reaper = try TestLaunch(
                [python, "-I", "-c", Self.reaper, "sleep 1001 & echo ready; exec sleep 1002"],
                in: ChildSetting())
            reaper.start()
            #expect(try reaper.line() == "ready")
            let cleaner = Cleaner(patience: .milliseconds(10_000), root: reaper.pid)
            let all = ProcessEntry.all()
            let child = try #require(all.first { $0.parent == reaper.pid })
            #expect(cleaner.clean(kept: [child.pid], endsDaemons: true).isEmpty)
            #expect(cleaner.clean(endsDaemons: true).count == 2)
        }

        // MARK: Homes

        private func request(_ home: ConditionRequest.Home) -> ConditionRequest {
            var request = ConditionRequest()
            request.home = home
            return request
        }

        @Test func aFreshHomeIsFreshEachTime() throws {
            let home = try HomeFolder(copying: nil)
            var setting = ChildSetting()
            setting.environment = home.environment
            let script = "cd; ls -A; touch x; mkdir -p $XDG_CACHE_HOME/y; echo $HOME $XDG_DATA_HOME"
            for _ in 0..<2 {
                try home.renew()
                let end = try TestLaunch.run(["/bin/sh", "-c", script], in: setting)
                #expect(end.output == "\(home.path) \(home.path)/.local/share\n")
            }
            #expect(access("\(home.path)/x", F_OK) == 0)
        }

        @Test func aCopiedHomeIsAsItWas() throws {
            let folder = try TestFolder()
            try folder.write(Array("old\n".utf8), to: "settings")
            symlink("settings", folder.path("link"))
            var path = ""
            do {
                let original = folder.path(".")
                let home = try HomeFolder(copying: original)
                path = home.path
                for _ in 0..<2 {
                    try home.renew()
                    let script =
                        "cd \(path); cat link; readlink link; echo new > settings; touch z; ls"
                    let end = try TestLaunch.run(["/bin/sh", "-c", script])
                    #expect(end.output == "old\nsettings\nlink\nsettings\nz\n")
                }
                #expect(FileText.text(of: folder.path("settings")) == "old\n")
            }
            #expect(access(path, F_OK) != 0)
            #expect(throws: ConditionError.self) { _ = try HomeFolder(copying: "/nowhere") }
        }

        // MARK: Commands

        @Test func commandsSeeTheHomeAndAreReported() throws {
            var request = request(.fresh)
            request.between = Hook(command: "echo between $HOME")
            request.before = Hook(command: "echo before >&2; exit 3")
            request.environment = [EnvironmentChange("HOME", "/other")]
            let conditions = try LaunchConditions(request, program: python)
            let first = try conditions.renew(isFirst: true)
            #expect(first.map(\.result.ending) == [.exited(3)])
            #expect(first.map(\.result.output) == ["before\n"])
            let second = try conditions.renew(isFirst: false)
            #expect(second.map(\.result.output) == ["between /other\n", "before\n"])
        }

        @Test func commandsEndInTime() {
            let hook = Hook(command: "echo here; sleep 1000", limit: .milliseconds(300))
            let result = hook.run()
            #expect(result.ending == .tookTooLong)
            #expect(result.output == "here\n")
            #expect(Hook(command: "kill -TERM $$").run().ending == .signalled(SIGTERM))
            let much = Hook(command: "head -c 1000000 /dev/zero | tr '\\0' x; echo end").run()
            #expect(much.output.utf8.count == 4096 && much.output.hasSuffix("end\n"))
            // A process that it leaves running delays nothing.
            let left = Hook(command: "sleep 1000 & echo $!").run()
            #expect(left.ending == .exited(0))
            if let pid = Int32(left.output.dropLast()), pid > 1 { kill(pid, SIGKILL) }
        }
    }
}

import Architecture
import CSystem
import Glibc
import ProfileModel
import System
import Testing

@testable import Agent
@testable import ProcessIO
@testable import Sampler

/// Real processes, as sessions see them.
@Suite struct KernelProcessTests {
    @Test func ourselves() throws {
        let process = KernelProcess(pid: getpid())
        #expect(process.threadIDs().contains(getpid()))
        #expect(process.isThread(getpid()))
        #expect(process.hasProgram)
        #expect(process.isZombie == false)
        #expect(process.sharesNamespaceWithUs)
        #expect(process.group(of: getpid()) == getpid())
        #expect(process.parent(of: getpid()) == getppid())
        try process.checkPermission()
        let program = process.runningProgram()
        #expect(!program.isGone)
        #expect(program.threadLinks != nil)
    }

    /// A forked child has a copy; only vfork and CLONE_VM share.
    @Test func onlySharedMemoryCounts() throws {
        let child = try Child(["sleep", "60"])
        #expect(!KernelProcess(pid: child.pid).sharesMemory)
        #expect(fl_shares_memory(getpid(), getpid()) == 1)
        #expect(fl_shares_memory(getpid(), child.pid) == 0)
        #expect(fl_shares_memory(getpid(), .max) < 0)
    }

    @Test func aProcessThatSharesIt() async {
        await #expect(processExitsWith: .success) {
            let process = KernelProcess(pid: getpid())
            #expect(!process.sharesMemory)
            // Variadic, so that Swift hides it.
            typealias Clone =
                @convention(c) (
                    @convention(c) (UnsafeMutableRawPointer?) -> Int32, UnsafeMutableRawPointer,
                    Int32, UnsafeMutableRawPointer?
                ) -> Int32
            let clone = unsafeBitCast(try #require(dlsym(nil, "clone")), to: Clone.self)
            let stack = UnsafeMutableRawPointer.allocate(byteCount: 1 << 16, alignment: 16)
            let sharing: Int32 = 0x100  // CLONE_VM
            let other = clone({ _ in pause() }, stack + (1 << 16), sharing | SIGCHLD, nil)
            try #require(other > 0)
            #expect(process.sharesMemory)
            kill(other, SIGKILL)
            var status: Int32 = 0
            #expect(waitpid(other, &status, 0) == other)
            #expect(!process.sharesMemory)
        }
    }

    /// As glibc 2.42 and later guard threads' stacks, from Linux 6.13 on. 6.15 and later tell of it.
    @Test func aGuardWithoutAMapping() throws {
        let size = 1 << 20
        let memory = try #require(
            mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        try #require(memory != MAP_FAILED)
        defer { munmap(memory, size) }
        let start = UInt64(UInt(bitPattern: memory))
        let process = KernelProcess(pid: getpid())
        func guardEnd() -> UInt64? { process.guardEnd(below: start + 900_000, downTo: start) }
        #expect(guardEnd() == nil)
        guard madvise(memory + 8192, 8192, Self.guardInstall) == 0 else { return }
        guard let end = guardEnd() else { return }
        #expect(end == start + 16384)
        #expect(process.guardEnd(below: start + 4096, downTo: start) == nil)
        #expect(process.guardEnd(below: start, downTo: start) == nil)
    }

    /// MADV_GUARD_INSTALL, which headers of Debian 12 do not have.
    private static let guardInstall: Int32 = 102

    @Test func theListOfRobustMutexesIsInTheThreadsDescriptor() {
        let descriptor = UInt64(pthread_self())
        let list = fl_robust_list(0)
        #expect(list > descriptor && list < descriptor + 8192)
        #expect(fl_robust_list(.max) == 0)
    }

    /// When the mappings were read, other memory may have been where a thread's stack is: that is
    /// no stack of the program's making.
    @Test func aStackThatIsNewerThanTheMappings() throws {
        let size = 1 << 20
        let block = try #require(mmap(nil, size, PROT_READ | PROT_WRITE, 0x22, -1, 0))
        defer { munmap(block, size) }
        #expect(mprotect(block, 64 << 10, PROT_READ) == 0)
        let context = SessionContext(
            KernelProcess(pid: getpid()), options: SamplerOptions(), sink: RecordingSink(),
            machine: nil)
        let image = RunningImage(start: .now)
        context.stage.begin(image)
        let room = StackRoom(context: context)
        let thread = TracedThread(
            context.process.thread(getpid()), index: ThreadIndex(0), start: .now, isNew: false)
        thread.stack.saw(UInt64(UInt(bitPattern: block)) + UInt64(512 << 10))
        context.observer.rereadMappings(at: .now)
        #expect(context.observer.stackPlace(of: thread).isForeign)
        // As thread libraries make stacks: with a guard below.
        #expect(mprotect(block, 64 << 10, PROT_NONE) == 0)
        #expect(context.observer.stackPlace(of: thread).isForeign)
        #expect(room.hasRoomForSignal(thread) && !image.hasOtherStacks)
        #expect(mprotect(block, 64 << 10, PROT_READ) == 0)
        context.observer.rereadMappings(at: .now)
        #expect(!room.hasRoomForSignal(thread) && image.hasOtherStacks)
    }

    /// A recorder that is killed as it attaches leaves its piece where the next one needs room.
    @Test func aPieceThatAKilledRecorderHasLeft() throws {
        let child = try Child(["sleep", "60"])
        #expect(eventually { !ProcessFiles(pid: child.pid).image(at: .now).arguments.isEmpty })
        var options = SamplerOptions(capture: .untraced)
        options.asksScheduler = false
        let session = ProcessSession(
            KernelProcess(pid: child.pid), options: options, sink: RecordingSink())
        try session.parts.beginnings.beginAttached {}
        let start = ImageStart(of: KernelProcess(pid: child.pid))
        let memory = TargetMemory(pid: child.pid)
        let cave = try #require(start.anyCave)
        let piece = AgentCode.boot(descriptor: nil, place: 0, size: 0, isAtEntry: false)
        func isThere() -> Bool { AgentCode.isPiece(memory.read(at: cave, count: piece.count)) }
        #expect(memory.write(piece, at: cave) && isThere())
        // The process may not sleep yet: then a thread could be in the piece.
        #expect(
            eventually {
                session.parts.earlierAgents.clearCave(start, stopped: [])
                return !isThere()
            })
    }

    /// A process that ended before anything of it could be opened is gone, not unknown.
    @Test func nobody() {
        let process = KernelProcess(pid: .max)
        #expect(process.threadIDs().isEmpty)
        #expect(!process.hasProgram)
        #expect(process.isZombie == nil)
        #expect(process.group(of: .max) == nil)
        #expect(throws: SystemError.self) { try process.checkPermission() }
        #expect(process.runningProgram().isGone)
        #expect(process.runningProgram().threadLinks == nil)
    }

    /// Each observer has its own scratch space: with one for all, the memory of two was corrupted.
    @Test func observersDoNotMeet() async {
        await #expect(processExitsWith: .success) {
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let thread = KernelProcess(pid: getpid()).thread(getpid())
                        return (0..<5_000).allSatisfy { _ in
                            thread.state() != nil && thread.counters() != nil
                                && thread.name() != nil
                        }
                    }
                }
                for await isRight in group { #expect(isRight) }
            }
        }
    }

    @Test func aProgramThatEnds() throws {
        let child = try Child(["sleep", "60"])
        let process = KernelProcess(pid: child.pid)
        #expect(eventually { process.hasProgram })
        let program = process.runningProgram()
        #expect(!program.isGone)
        kill(child.pid, SIGKILL)
        #expect(eventually { program.isGone })
        #expect(eventually { process.isZombie == true })
    }

    /// epoll_wait and sigtimedwait end with EINTR at each stop; to end by a handler is their due.
    @Test(arguments: [(232, "$e, $b, 1, -1"), (128, "$b, 0, 0, 8")])
    func callsOutlastStops(number: Int32, arguments: String) throws {
        let child = try Child([
            "perl", "-MErrno=EINTR", "-MPOSIX=sigprocmask", "-e",
            """
            sigprocmask(POSIX::SIG_SETMASK, POSIX::SigSet->new);
            $b = "\\0" x 16; $e = syscall(213, 1); $SIG{USR1} = sub {};
            exit((syscall(\(number), \(arguments)) == -1 && $! == EINTR) ? 7 : 8)
            """,
        ])
        let tracee = Tracee(tid: child.pid)
        let thread = KernelThread(process: child.pid, tid: child.pid)
        // While it is being woken from a stop, it counts as blocked, too, but not as asleep.
        func waits() -> Bool {
            guard thread.state() == UInt8(ascii: "S"),
                case .blocked(number, _) = thread.activity()
            else { return false }
            return true
        }
        func nextEvent() -> TraceEvent? {
            var status: Int32 = 0
            return fl_wait(child.pid, 0, &status) == child.pid ? TraceEvent(status: status) : nil
        }
        #expect(eventually { waits() })
        try tracee.seize()
        for _ in 0..<20 {
            try tracee.interrupt()
            try #require(nextEvent() == .stopped)
            try tracee.keepCall(restAt: nil)
            try tracee.resume()
            #expect(eventually { waits() })
        }
        // One that it does not handle, and one that it does.
        for signal in [SIGWINCH, SIGUSR1] {
            kill(child.pid, signal)
            try #require(nextEvent() == .signal(signal))
            try tracee.keepCall(restAt: nil)
            try tracee.resume(delivering: signal)
            if signal == SIGWINCH { #expect(eventually { waits() }) }
        }
        #expect(nextEvent() == .exiting)
        try tracee.resume()
        #expect(nextEvent() == .exited(status: 7))
    }

    /// The kernel ends a read of megabytes where a stop finds it.
    @Test(arguments: ["/dev/zero", "/dev/urandom"])
    func callsThatAStopCutShortGetTheRest(path: String) throws {
        let size = 16 << 20
        let child = try Child([
            "perl", "-e",
            """
            open(my $file, "<", "\(path)"); my $dirt = "\\1" x 64;
            while (1) {
                my $bytes = "\\1" x \(size);
                exit(8) if sysread($file, $bytes, \(size)) != \(size);
                exit(9) if index($bytes, $dirt) >= 0;
            }
            """,
        ])
        let process = KernelProcess(pid: child.pid)
        #expect(eventually { process.hasProgram })
        let tracee = Tracee(tid: child.pid)
        try tracee.seize()
        var cut = 0
        while cut < 20 {
            usleep(300)  // stopped all the time it would not get on
            try tracee.interrupt()
            var status: Int32 = 0
            try #require(fl_wait(child.pid, 0, &status) == child.pid)
            try #require(TraceEvent(status: status) == .stopped)
            let result = try tracee.registers()[0]
            try tracee.keepCall(restAt: nil)
            if try tracee.registers()[0] != result { cut += 1 }
            try tracee.resume()
        }
        kill(child.pid, SIGTERM)
        var status: Int32 = 0
        while fl_wait(child.pid, 0, &status) == child.pid, status & 0x7F == 0x7F {
            let event = TraceEvent(status: status)
            try tracee.resume(delivering: event == .signal(SIGTERM) ? SIGTERM : 0)
        }
        #expect(TraceEvent(status: status) == .killed(signal: SIGTERM))
    }

    /// It was asked to stop in its own code, but another signal stopped it, and it was released.
    @Test(.enabled(if: mayInterrupt, "perf events are not permitted here"))
    func noLateSignal() async {
        await #expect(processExitsWith: .success) {
            let child = try Child([
                "perl", "-e",
                """
                my $n = 0; $SIG{URG} = sub { $n++ }; $SIG{USR1} = sub {};
                $SIG{TERM} = sub { exit($n > 200 ? 200 : $n) };
                my $i = 0; $i++ while 1
                """,
            ])
            #expect(eventually { ProcessStatus(pid: child.pid)?.catches(SIGTERM) == true })
            var options = SamplerOptions(capture: .untraced)
            options.asksScheduler = false
            let session = ProcessSession(
                KernelProcess(pid: child.pid), options: options, sink: RecordingSink())
            try session.parts.beginnings.beginAttached {}
            _ = try ProcessSessionTests().instrument(session)
            let thread = try #require(session.threads[child.pid])
            for _ in 0..<100 {
                session.parts.requests.stop(thread)
                kill(child.pid, SIGUSR1)
                let isFree = eventually {
                    session.takeChanges()
                    return !thread.tracing.isTraced
                }
                try #require(isFree)
            }
            kill(child.pid, SIGTERM)
            #expect(child.end() == 0)
        }
    }

    @Test func aThreadOfOurs() throws {
        let thread = KernelProcess(pid: getpid()).thread(getpid())
        let counters = try #require(thread.counters())
        #expect(counters.timeslices > 0)
        #expect(thread.activity() != nil)
        #expect(thread.status() != nil)
        #expect(thread.state() != nil)
        let name = thread.name()
        #expect(name != nil && thread.standing().name == name)
        // Once the name is read rarely, its file is opened anew each time.
        thread.leaveName()
        #expect(thread.name() == name)
        thread.reopen()
        #expect(thread.name() == name)
        #expect(throws: SystemError.self) { _ = try thread.registers() }
    }
}

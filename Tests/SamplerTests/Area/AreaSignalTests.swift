import CAgent
import CSystem
import Glibc
import ProfileModel
import Synchronization
import Testing

@testable import Sampler

/// What the area's code does with signals and system calls: each in a process of its own, whose
/// thread that is.
@Suite struct AreaSignalTests {
    /// One that nothing else uses.
    static let signal: Int32 = 45
    static let cookie: UInt64 = 0x1234_5678_9ABC

    /// A thread of ours is asked, and answers before the call that sends the signal returns.
    static func ask(_ slots: SharedSlots, _ slot: Int, value: UInt64? = nil) {
        // Threads of pools block everything.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        let sent = fl_signal_thread(
            getpid(), OwnSignposts.thread, signal, value ?? slots.value(for: slot))
        #expect(sent == 0)
    }

    static func outstanding(_ area: Area) -> Int32 {
        area.outstanding.pointee.load(ordering: .sequentiallyConsistent)
    }

    static func stack() -> Range<UInt64> {
        var watch = MappingWatch(pid: getpid())
        _ = watch.refreshed(at: .now)
        var word: UInt64 = 0
        let here = withUnsafeMutablePointer(to: &word) { UInt64(UInt(bitPattern: $0)) }
        return watch.region(around: here).map { $0.start..<$0.end } ?? 0..<0
    }

    @Test func aRequestIsAnswered() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea(stackBytes: 8192)
            mapped.settle { $0.signal = (Self.signal, 0) }
            let area = mapped.area
            let slots = SharedSlots(area: area, cookie: Self.cookie)
            // Who would not hear of the program's own action asks nobody.
            #expect(!slots.isReady && !slots.isDisplaced)
            area.setReturn(of: .sigaction, to: 7, word: 0)
            #expect(slots.isReady)
            let slot = try #require(slots.take())
            let stack = Self.stack()
            for limit in [8192, 100, 0, 8192] {
                let before = MonotonicTime.now
                let request = slots.request(slot, stack: stack, limit: limit, masks: slots.masks)
                #expect(request == .ready)
                #expect(Self.outstanding(area) == 1)
                Self.ask(slots, slot)
                #expect(Self.outstanding(area) == 0)
                #expect(slots.state(of: slot) == .filled)
                let time = slots.timeOfAnswer(slot)
                #expect(time >= before && time <= .now)
                let answer = slots.takeAnswer(slot)
                #expect(slots.state(of: slot) == .idle)
                #expect(answer.time == time && answer.cpu > 0 && !answer.isOnAlternateStack)
                let pointer = answer.registers.stackPointer
                #expect(stack.contains(pointer))
                #expect(answer.stack.start == pointer - 128)
                let whole = Int(stack.upperBound - answer.stack.start)
                #expect(answer.stack.bytes.count == min(limit, whole))
                #expect(
                    TargetMemory(pid: getpid()).read(
                        at: answer.registers.programCounter - 2, count: 2) == [0x0F, 0x05])
            }
            // Elsewhere than it was thought to be: as much as may be.
            _ = slots.request(slot, stack: 0x1000..<0x2000, limit: 256, masks: 0)
            Self.ask(slots, slot)
            #expect(slots.takeAnswer(slot).stack.bytes.count == 256)
            _ = slots.request(slot, stack: stack.upperBound..<UInt64.max, limit: 512, masks: 0)
            Self.ask(slots, slot)
            #expect(slots.takeAnswer(slot).stack.bytes.count == 512)
        }
    }

    /// An alternate stack of the smallest size takes no frame: the answer comes from the thread's own.
    @Test func aSmallAlternateStackIsLeftAlone() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let smallest = 2048  // MINSIGSTKSZ
            let memory = UnsafeMutableRawPointer.allocate(byteCount: smallest, alignment: 16)
            memory.initializeMemory(as: UInt8.self, repeating: 0xA5, count: smallest)
            var alternate = stack_t(ss_sp: memory, ss_flags: 0, ss_size: smallest)
            #expect(sigaltstack(&alternate, nil) == 0)
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            let slot = try #require(slots.take())
            _ = slots.request(slot, stack: Self.stack(), limit: 64, masks: 0)
            Self.ask(slots, slot)
            #expect(!slots.takeAnswer(slot).isOnAlternateStack)
            let bytes = UnsafeRawBufferPointer(start: memory, count: smallest)
            #expect(bytes.allSatisfy { $0 == 0xA5 })
        }
    }

    /// Set after the recorder has looked, and before our code is there.
    @Test func aHandlerThatIsThereStays() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            _ = Glibc.signal(Self.signal) { _ in }
            var (before, after) = (sigaction(), sigaction())
            #expect(sigaction(Self.signal, nil, &before) == 0)
            Self.settleWithSpare(mapped)
            #expect(sigaction(Self.signal, nil, &after) == 0)
            // The handler and the mask's first word: of the rest the C library leaves what there was.
            let isSame = withUnsafeBytes(of: before) { old in
                withUnsafeBytes(of: after) { old.prefix(16).elementsEqual($0.prefix(16)) }
            }
            #expect(isSame && before.sa_flags == after.sa_flags)
            #expect(mapped.area.isDisplaced && mapped.area.hasSpare)
        }
    }

    /// As the kernel has them.
    private static func flags(of signal: Int32) -> UInt64 {
        var action = sigaction()
        return sigaction(signal, nil, &action) == 0
            ? UInt64(UInt32(bitPattern: action.sa_flags)) : .max
    }

    /// Whose handlers have to be on alternate stacks has a reason for it.
    @Test func theSpareGoesWhereTheProgramsHandlerDoes() async {
        for flag in [0, 0x0800_0000] as [UInt64] {  // SA_ONSTACK
            await #expect(processExitsWith: .success) { [flag = flag as UInt64] in
                let mapped = try MappedArea()
                Self.settleWithSpare(mapped)
                let (_, calls) = try Self.calls(past: mapped)
                let sigaction = calls[CallSites.Call.sigaction.index]
                var own = Action(handler: 1, flags: flag, restorer: 0, mask: 0)
                #expect(sigaction(Int(Self.signal), &own, nil) == 0)
                #expect(mapped.area.hasSpare)
                #expect(Self.flags(of: Self.spare) & 0x0800_0000 == flag)
            }
        }
    }

    /// Whatever is sent that is no request of ours does nothing.
    @Test func otherSignalsAreIgnored() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            let slot = try #require(slots.take())
            Self.ask(slots, slot)
            #expect(slots.state(of: slot) == .idle)
            _ = slots.request(slot, stack: 0..<0, limit: 64, masks: 0)
            let asked = slots.value(for: slot)
            for value in [
                0, .max, asked ^ 1 << 16, asked ^ 1 << 63, asked | 512, asked | 0xFFFF, asked + 1,
            ] as [UInt64] {
                Self.ask(slots, slot, value: value)
                #expect(slots.state(of: slot) == .requested)
            }
            kill(getpid(), Self.signal)
            raise(Self.signal)
            #expect(slots.state(of: slot) == .requested)
            #expect(Self.outstanding(mapped.area) == 1)
            slots.cancel(slot)
            #expect(Self.outstanding(mapped.area) == 0)
            Self.ask(slots, slot)
            #expect(slots.state(of: slot) == .idle)
        }
    }

    @Test func underAFilterItDeclines() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            let slot = try #require(slots.take())
            #expect(slots.request(slot, stack: 0..<0, limit: 64, masks: 0) == .ready)
            mapped.area.silence()
            Self.ask(slots, slot)
            #expect(slots.state(of: slot) == .declined)
            #expect(Self.outstanding(mapped.area) == 0)
            slots.takeRefusal(slot)
            #expect(slots.state(of: slot) == .idle)
            #expect(slots.request(slot, stack: 0..<0, limit: 64, masks: 0) == .refused)
            #expect(Self.outstanding(mapped.area) == 0)
        }
    }

    // MARK: The C library's calls

    private typealias Call =
        @convention(c) (Int, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?)
        -> Int

    /// A C library of a function for each call, which is behind six bytes.
    private static func library() throws -> UnsafeMutableRawPointer {
        let descriptor = fl_make_memory("library", 4096)
        try #require(descriptor >= 0)
        let page = try #require(fl_map_memory(descriptor, 4096))
        for (index, call) in CallSites.Call.allCases.enumerated() {
            // mov $8, %r10d; mov $number, %eax; syscall; ret
            var code: [UInt8] = [0x41, 0xBA, 8, 0, 0, 0] + call.code + [0xC3]
            // mov %rdi, %rax; mov %rsi, %rdi; mov %rdx, %rsi; mov %rcx, %rdx; mov %r8, %r10;
            // mov %r9, %r8
            if call == .syscall {
                code =
                    [0x48, 0x89, 0xF8, 0x48, 0x89, 0xF7, 0x48, 0x89, 0xD6, 0x48, 0x89, 0xCA]
                    + [0x4D, 0x89, 0xC2, 0x4D, 0x89, 0xC8] + call.code + [0xC3]
            }
            (page + 64 * index).copyMemory(from: code, byteCount: code.count)
        }
        try #require(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0)
        return page
    }

    /// The calls, led past the area's code by the recorder as in a static program.
    private static func calls(
        past mapped: MappedArea
    ) throws -> (page: UnsafeMutableRawPointer, calls: [Call]) {
        let page = try library()
        let start = UInt64(UInt(bitPattern: page))
        try #require(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0)
        for call in CallSites.Call.allCases {
            let place = 64 * call.index + (call == .syscall ? 18 : 6)
            let site = start + UInt64(place)
            let word = page.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            let jump = try #require(
                LinkerHook.jump(
                    from: site, to: mapped.area.position(Int(AreaCode.standIn(for: call)))))
            page.storeBytes(
                of: word & ~0xFF_FFFF_FFFF | jump, toByteOffset: place, as: UInt64.self)
            mapped.area.setReturn(of: call, to: site + 7, word: word)
        }
        try #require(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0)
        return (
            page, CallSites.Call.allCases.map { unsafeBitCast(page + 64 * $0.index, to: Call.self) }
        )
    }

    /// syscall(2).
    private typealias Numbered = @convention(c) (Int, Int, Int, Int, Int, Int) -> Int

    /// A forked child finds the page that is its parent's own empty.
    @Test func aForkedChildLosesOurHandler() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            mapped.settle { $0.signal = (Self.signal, 1) }
            let (page, calls) = try Self.calls(past: mapped)
            let sigaction = calls[CallSites.Call.sigaction.index]
            // Not by way of our code.
            let direct = unsafeBitCast(
                try Self.library() + 64 * CallSites.Call.sigaction.index, to: Call.self)
            func handler() -> UInt64 {
                var action = Action()
                #expect(direct(Int(Self.signal), nil, &action) == 0)
                return action.handler
            }
            let ours = handler()
            #expect(ours == mapped.address + AreaCode.sampleHandler)
            var other = Action()
            #expect(sigaction(Int(SIGUSR1), nil, &other) == 0)
            #expect(handler() == ours)
            mapped.store(UInt32(0), at: Int(FL_OWN))
            // Some filter may not let it.
            mapped.area.silence()
            #expect(sigaction(Int(SIGUSR1), nil, &other) == 0 && handler() == ours)
            mapped.area.set(\.filtered, 0)
            #expect(sigaction(Int(SIGUSR1), nil, &other) == 0 && handler() == 1)
            // Once, and never one of its own.
            var own = Action(handler: 0, flags: 0, restorer: 0, mask: 0)
            #expect(sigaction(Int(Self.signal), &own, nil) == 0 && handler() == 0)
            munmap(page, 4096)
        }
    }

    /// What a program locks and makes memory of is its own.
    @Test func theAreaIsNotLocked() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            mapped.settle()
            let (_, calls) = try Self.calls(past: mapped)
            // MADV_COLD is refused where memory is locked.
            func isLocked(_ page: UnsafeMutableRawPointer) -> Bool { madvise(page, 4096, 20) != 0 }
            let own = try #require(mmap(nil, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
            let lock = calls[CallSites.Call.mlockall.index]
            let syscall = unsafeBitCast(
                calls[CallSites.Call.syscall.index], to: (@convention(c) (Int, Int) -> Int).self)
            for call in [{ lock($0, nil, nil) }, { syscall(151, $0) }] as [(Int) -> Int] {
                // MCL_CURRENT | MCL_ONFAULT, for this process is large.
                #expect(call(5) == 0)
                #expect(isLocked(own))
                for part in [0, FL_STATE, FL_SLOTS] {
                    #expect(!isLocked(mapped.program + Int(part)))
                }
                #expect(call(1 << 20) == -22)
                #expect(munlockall() == 0)
            }
        }
    }

    /// struct kernel_sigaction.
    private struct Action: Equatable {
        var handler: UInt64 = 7
        var flags: UInt64 = 7
        var restorer: UInt64 = 7
        var mask: UInt64 = 7
    }

    @Test func theProgramSeesItsOwnAction() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            mapped.settle { $0.signal = (Self.signal, 1) }
            let (_, calls) = try Self.calls(past: mapped)
            let sigaction = calls[CallSites.Call.sigaction.index]
            var old = Action()
            #expect(sigaction(Int(Self.signal), nil, &old) == 0)
            #expect(old.handler == 1 && old.flags == 0)
            #expect(!mapped.area.isDisplaced)
            // Another signal is no matter of ours.
            var ignored = Action(handler: 1, flags: 0, restorer: 0, mask: 0)
            #expect(sigaction(Int(Self.signal) + 1, &ignored, &old) == 0)
            #expect(old.handler == 0 && !mapped.area.isDisplaced)
            #expect(sigaction(Int(Self.signal) + 1, nil, &old) == 0)
            #expect(old.handler == 1)
            #expect(sigaction(99, nil, &old) == -Int(EINVAL))
            // Its own action for ours ends the requests.
            #expect(sigaction(Int(Self.signal), &ignored, &old) == 0)
            #expect(old.handler == 1 && mapped.area.isDisplaced)
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            #expect(slots.request(0, stack: 0..<0, limit: 64, masks: 0) == .refused)
            Self.ask(slots, 0)
        }
    }

    @Test func masksAreCounted() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let (_, calls) = try Self.calls(past: mapped)
            let sigmask = calls[CallSites.Call.sigmask.index]
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            let bit: UInt64 = 1 << UInt64(Self.signal - 1)
            let steps: [(how: Int, set: UInt64, masks: UInt32)] = [
                (Int(SIG_BLOCK), bit << 1, 0), (Int(SIG_BLOCK), bit, 1), (Int(SIG_UNBLOCK), bit, 1),
                (Int(SIG_SETMASK), .max, 2), (Int(SIG_SETMASK), 0, 2), (Int(SIG_BLOCK), ~bit, 2),
                (Int(SIG_SETMASK), 0, 2),
            ]
            for step in steps {
                var set = step.set
                #expect(sigmask(step.how, &set, nil) == 0)
                #expect(slots.masks == step.masks)
            }
            var old: UInt64 = 1
            #expect(sigmask(Int(SIG_BLOCK), nil, &old) == 0)
            #expect(old == 0 && slots.masks == 2)
            #expect(slots.request(0, stack: 0..<0, limit: 64, masks: 1) == .refused)
            #expect(slots.request(0, stack: 0..<0, limit: 64, masks: 2) == .ready)
        }
    }

    /// The memory files of ours that this process has open.
    private static func memoryFiles() -> Int {
        (0..<256).count { number in
            var target = [CChar](repeating: 0, count: 64)
            return readlink("/proc/self/fd/\(number)", &target, 63) > 0
                && strcmp(target, "/memfd:firstlight (deleted)") == 0
        }
    }

    /// Two threads that execute programs at once: the memory that one makes for its own is not the
    /// other's to close, and none is left.
    @Test func twoThreadsThatExecuteAtOnce() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let execve = try Self.calls(past: mapped).calls[CallSites.Call.execve.index]
            var path = Array("/tmp/firstlight-unexecutable-XXXXXX".utf8CString)
            let file = mkstemp(&path)
            try #require(file >= 0 && write(file, "nothing", 7) == 7 && fchmod(file, 0o755) == 0)
            close(file)
            let before = Self.memoryFiles()
            let address = Int(bitPattern: strdup(path))
            let attempts = Attempts(execve, address)
            beside { attempts.make() }
            attempts.make()
            while attempts.made.load(ordering: .sequentiallyConsistent) < 100 { sched_yield() }
            #expect(attempts.refused.load(ordering: .sequentiallyConsistent) == 100)
            unlink(path)
            #expect(Self.memoryFiles() == before)
            #expect(mapped.area.value(\.execution) == UInt32(FL_EXECUTION_NONE))
            #expect(mapped.area[\.next_area] == -1)
        }
    }

    /// Fifty attempts of each thread to execute a file that is no program.
    private final class Attempts: Sendable {
        let made = Atomic<Int>(0)
        let refused = Atomic<Int>(0)
        private let execve: @Sendable () -> Int

        init(_ execve: @escaping Call, _ path: Int) {
            let function = unsafeBitCast(execve, to: Int.self)
            self.execve = { unsafeBitCast(function, to: Call.self)(path, nil, nil) }
        }

        func make() {
            for _ in 1...50 {
                if execve() == -Int(ENOEXEC) {
                    refused.wrappingAdd(1, ordering: .sequentiallyConsistent)
                }
                made.wrappingAdd(1, ordering: .sequentiallyConsistent)
            }
        }
    }

    /// How often this thread has slept so far.
    private static func naps() -> Int {
        var usage = rusage()
        getrusage(__rusage_who_t(1), &usage)  // RUSAGE_THREAD
        return usage.ru_nvcsw
    }

    /// Whoever changes its own mask has nothing to do with what others were asked.
    @Test func othersRequestsAreNotWaitedFor() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let (_, calls) = try Self.calls(past: mapped)
            let sigmask = calls[CallSites.Call.sigmask.index]
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            #expect(slots.request(0, stack: 0..<0, limit: 64, masks: 0) == .ready)
            slots.wasSent()
            let before = Self.naps()
            var set: UInt64 = 1 << UInt64(Self.signal - 1)
            for count in 1...100 {
                #expect(sigmask(Int(SIG_BLOCK), &set, nil) == 0)
                #expect(slots.masks == count)
            }
            #expect(Self.naps() - before < 50)
            #expect(Self.outstanding(mapped.area) == 1)
        }
    }

    /// What was counted and never answered, for the recorder was killed, is waited for once.
    @Test func aRequestThatNobodyAnswersIsForgotten() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            Self.settleWithSpare(mapped)
            let (_, calls) = try Self.calls(past: mapped)
            let sigmask = calls[CallSites.Call.sigmask.index]
            let sigaction = calls[CallSites.Call.sigaction.index]
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            #expect(slots.request(0, stack: 0..<0, limit: 64, masks: 0) == .ready)
            var set: UInt64 = .max
            var start = Self.naps()
            #expect(sigmask(Int(SIG_SETMASK), &set, nil) == 0)
            #expect(Self.naps() - start >= 100)
            start = Self.naps()
            for _ in 0..<5 { #expect(sigmask(Int(SIG_SETMASK), &set, nil) == 0) }
            #expect(Self.naps() - start < 50)
            var ignored = Action(handler: 1, flags: 0, restorer: 0, mask: 0)
            #expect(sigaction(Int(Self.signal), &ignored, nil) == 0)
            start = Self.naps()
            for _ in 0..<5 { #expect(sigaction(Int(Self.signal), &ignored, nil) == 0) }
            #expect(Self.naps() - start < 50)
        }
    }

    /// What is being sent to a thread arrives before it blocks the signal.
    @Test func aSignalThatIsBeingSentIsWaitedFor() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let (_, calls) = try Self.calls(past: mapped)
            let sigmask = calls[CallSites.Call.sigmask.index]
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            #expect(slots.request(0, stack: 0..<0, limit: 64, masks: 0) == .ready)
            let sender = Sender(slots, to: OwnSignposts.thread, by: Self.signal)
            try sender.start()
            var set: UInt64 = 1 << UInt64(Self.signal - 1)
            #expect(sigmask(Int(SIG_BLOCK), &set, nil) == 0)
            #expect(slots.state(of: 0) == .filled)
            var pending = sigset_t()
            sigpending(&pending)
            #expect(sigismember(&pending, Self.signal) == 0)
        }
    }

    /// Sends a request's signal once its thread is about to block it.
    private final class Sender {
        private let slots: SharedSlots
        private let tid: Int32
        private let signal: Int32

        init(_ slots: SharedSlots, to tid: Int32, by signal: Int32) {
            (self.slots, self.tid, self.signal) = (slots, tid, signal)
        }

        func start() throws {
            var thread = pthread_t()
            let own = Unmanaged.passRetained(self).toOpaque()
            let error = pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    let own = Unmanaged<Sender>.fromOpaque(argument).takeRetainedValue()
                    while own.slots.masks == 0 {}
                    _ = fl_signal_thread(
                        getpid(), own.tid, own.signal, own.slots.value(for: 0))
                    own.slots.wasSent()
                    return nil
                }, own)
            try #require(error == 0)
        }
    }

    /// What another recorder has brought in is recognised; whether that is gone, too.
    @Test func anotherRecordersAreaIsRecognised() async {
        await #expect(processExitsWith: .success) {
            #expect(EarlierArea.all(in: getpid()).isEmpty)
            for (recorder, isAbandoned) in [(0, false), (getppid(), false), (Int32.max - 1, true)] {
                let mapped = try MappedArea()
                mapped.settle { $0.recorder = recorder }
                let unused = try #require(EarlierArea.all(in: getpid()).last)
                #expect(unused.start == mapped.address && !unused.isInUse)
                let (page, _) = try Self.calls(past: mapped)
                let found = EarlierArea.all(in: getpid()).filter(\.isInUse)
                #expect(found.count == 1 && found.first?.isAbandoned == isAbandoned)
                #expect(found.first?.changes == mapped.area.hookedWords)
                #expect(found.first?.changes.count == Int(FL_SITES))
                munmap(page, 4096)
                #expect(EarlierArea.all(in: getpid()).allSatisfy { !$0.isInUse })
            }
            // Not filled in yet, or just about to be: somebody waits for its recorder.
            for isPrepared in [false, true] {
                let made = try MappedArea()
                let arrival = Int(fl_code_describe().arrival)
                made.area.write(Array(AreaCode.bytes.prefix(arrival)), at: 0)
                if isPrepared { made.area.prepare() }
                for (recorder, isAbandoned) in [
                    (0, false), (getppid(), false), (Int32.max - 1, true),
                ] {
                    made.area.set(\.recorder, UInt32(bitPattern: recorder))
                    let waiting = EarlierArea.all(in: getpid()).filter(\.isInUse)
                    #expect(waiting.count == 1 && waiting.first?.recorder == recorder)
                    #expect(waiting.first?.isAbandoned == isAbandoned)
                }
            }
        }
    }

    // MARK: The spare signal

    private static let spare: Int32 = 46

    private static func settleWithSpare(_ mapped: MappedArea) {
        mapped.settle {
            $0.signal = (signal, 0)
            $0.spare = spare
        }
    }

    /// Asked by the spare signal, a thread of ours answers as by the first.
    private static func expectAnswer(bySpare slots: SharedSlots) throws {
        #expect(slots.hasSpare)
        let slot = try #require(slots.take())
        #expect(
            slots.request(slot, stack: 0..<0, limit: 64, masks: slots.masks, bySpare: true)
                == .ready)
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        #expect(
            fl_signal_thread(getpid(), OwnSignposts.thread, spare, slots.value(for: slot)) == 0)
        #expect(slots.state(of: slot) == .filled)
        _ = slots.takeAnswer(slot)
    }

    @Test func aProgramThatHandlesTheFirstLeavesTheSpare() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            Self.settleWithSpare(mapped)
            let (_, calls) = try Self.calls(past: mapped)
            let sigaction = calls[CallSites.Call.sigaction.index]
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            #expect(slots.signal == Self.signal && slots.spareSignal == Self.spare)
            #expect(!slots.hasSpare)
            #expect(slots.request(0, stack: 0..<0, limit: 64, masks: 0, bySpare: true) == .refused)
            #expect(mapped.area.signals.map(\.number) == [Self.signal])
            var ignored = Action(handler: 1, flags: 0, restorer: 0, mask: 0)
            #expect(sigaction(Int(Self.signal), &ignored, nil) == 0)
            #expect(slots.isDisplaced)
            try Self.expectAnswer(bySpare: slots)
            #expect(mapped.area.signals.map(\.number) == [Self.signal, Self.spare])
            // Which is nothing that the program could see.
            var old = Action()
            #expect(sigaction(Int(Self.spare), nil, &old) == 0)
            #expect(old.handler == 0 && old.flags == 0 && old.mask == 0 && old.restorer == 0)
            #expect(sigaction(Int(Self.signal), nil, &old) == 0)
            #expect(old.handler == 1)
            // Until it wants that one, too.
            #expect(sigaction(Int(Self.spare), &ignored, &old) == 0)
            #expect(old.handler == 0 && !slots.hasSpare)
            #expect(slots.request(0, stack: 0..<0, limit: 64, masks: 0, bySpare: true) == .refused)
            #expect(sigaction(Int(Self.spare), nil, &old) == 0)
            #expect(old.handler == 1 && mapped.area.signals.map(\.number) == [Self.signal])
        }
    }

    @Test func aProgramThatBlocksTheFirstLeavesTheSpare() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            Self.settleWithSpare(mapped)
            let (_, calls) = try Self.calls(past: mapped)
            let sigmask = calls[CallSites.Call.sigmask.index]
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            let bits = (first: UInt64(1) << 44, spare: UInt64(1) << 45)
            // All signals for a moment: no use for the one.
            var set = UInt64.max
            #expect(sigmask(Int(SIG_SETMASK), &set, nil) == 0)
            #expect(slots.masks == 1 && !slots.hasSpare)
            set = bits.spare
            #expect(sigmask(Int(SIG_SETMASK), &set, nil) == 0)
            #expect(slots.masks == 1 && !slots.hasSpare)
            set = bits.first
            #expect(sigmask(Int(SIG_SETMASK), &set, nil) == 0)
            #expect(slots.masks == 2 && slots.hasSpare)
            // From now on either counts.
            set = bits.spare
            #expect(sigmask(Int(SIG_SETMASK), &set, nil) == 0)
            #expect(slots.masks == 3)
            set = 0
            #expect(sigmask(Int(SIG_SETMASK), &set, nil) == 0)
            #expect(slots.masks == 3)
            try Self.expectAnswer(bySpare: slots)
            #expect(!slots.isDisplaced && mapped.area.signals.count == 2)
        }
    }

    @Test func aSpareOfTheProgramsIsNotTaken() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            Self.settleWithSpare(mapped)
            let (page, calls) = try Self.calls(past: mapped)
            let sigaction = calls[CallSites.Call.sigaction.index]
            // Any handler; it is never called.
            var own = Action(
                handler: UInt64(UInt(bitPattern: page)), flags: 0, restorer: 0, mask: 0)
            #expect(sigaction(Int(Self.spare), &own, nil) == 0)
            #expect(sigaction(Int(Self.signal), &own, nil) == 0)
            #expect(mapped.area.isDisplaced && !mapped.area.hasSpare)
            var old = Action()
            #expect(sigaction(Int(Self.spare), nil, &old) == 0)
            #expect(old.handler == own.handler)
        }
    }

    @Test func filtersAreSeenComing() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let (_, calls) = try Self.calls(past: mapped)
            let prctl = calls[CallSites.Call.prctl.index]
            // PR_GET_DUMPABLE, PR_SET_NO_NEW_PRIVS
            #expect(prctl(3, nil, nil) >= 0)
            #expect(!mapped.area.isFiltered)
            // A child in vfork has our memory, and its filter for itself.
            mapped.setProcess(1)
            #expect(prctl(38, nil, nil) == -Int(EINVAL))
            #expect(!mapped.area.isFiltered)
            mapped.setProcess(UInt32(getpid()))
            #expect(prctl(38, nil, nil) == -Int(EINVAL))
            #expect(mapped.area.isFiltered)
        }
    }

    /// By syscall(2), which may be given any number, and addresses from where nothing can be read.
    @Test func callsByTheirNumber() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            Self.settleWithSpare(mapped)
            let call = try Self.calls(past: mapped).page + 64 * CallSites.Call.syscall.index
            typealias WithSets =
                @convention(c) (Int, Int, UnsafeRawPointer?, UnsafeMutableRawPointer?, Int) -> Int
            func syscall(
                _ number: Int, _ first: Int, _ new: UnsafeRawPointer?,
                _ old: UnsafeMutableRawPointer?
            ) -> Int {
                unsafeBitCast(call, to: WithSets.self)(number, first, new, old, 8)
            }
            #expect(syscall(39, 0, nil, nil) == Int(getpid()))
            let nowhere = UnsafeRawPointer(bitPattern: 8)
            let masks = mapped.area.value(\.masks)
            #expect(syscall(13, Int(Self.signal), nowhere, nil) == -Int(EFAULT))
            #expect(syscall(14, Int(SIG_SETMASK), nowhere, nil) == -Int(EFAULT))
            #expect(!mapped.area.isDisplaced && mapped.area.value(\.masks) == masks)
            var (old, mask) = (Action(), UInt64(0))
            #expect(syscall(13, Int(Self.signal), nil, &old) == 0)
            #expect(old.handler != mapped.address + AreaCode.sampleHandler && old.flags == 0)
            var set = UInt64(1) << UInt64(Self.signal - 1)
            #expect(syscall(14, Int(SIG_SETMASK), &set, nil) == 0)
            #expect(mapped.area.value(\.masks) == masks + 1)
            #expect(syscall(14, Int(SIG_UNBLOCK), &set, &mask) == 0 && mask == set)
            var ignored = Action(handler: 1, flags: 0, restorer: 0, mask: 0)
            #expect(syscall(13, Int(Self.signal), &ignored, nil) == 0)
            #expect(mapped.area.isDisplaced && !mapped.area.isFiltered)
            // PR_GET_DUMPABLE; SECCOMP_GET_ACTION_AVAIL
            #expect(syscall(157, 3, nil, nil) >= 0)
            #expect(syscall(317, 2, nil, nil) < 0)
            #expect(!mapped.area.isFiltered)
            // SECCOMP_SET_MODE_FILTER, and none.
            #expect(syscall(317, 1, nil, nil) < 0)
            #expect(mapped.area.isFiltered)
            // What is not permitted any more is not tried.
            #expect(syscall(13, Int(Self.signal), nowhere, nil) == -Int(EFAULT))
            #expect(syscall(14, Int(SIG_SETMASK), nowhere, nil) == -Int(EFAULT))
        }
    }

    /// What a thread does in a call, and what came of it.
    private final class Waiter: Sendable {
        private let state = Mutex<(tid: Int32?, result: Int32?, error: Int32)>((nil, nil, 0))

        var tid: Int32? { state.withLock { $0.tid } }
        var result: Int32? { state.withLock { $0.result } }
        var error: Int32 { state.withLock { $0.error } }

        init(_ call: @escaping @Sendable () -> Int32) {
            _ = startThread { [self] in
                var none = sigset_t()
                sigemptyset(&none)
                pthread_sigmask(SIG_SETMASK, &none, nil)
                state.withLock { $0.tid = OwnSignposts.thread }
                let result = call()
                let error = errno
                state.withLock { ($0.result, $0.error) = (result, error) }
            }
        }
    }

    /// Calls that are not restarted after a handler, whatever its flags. Alone the signal would have
    /// been ignored.
    @Test func callsGoOnThatASignalOfOursEnded() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            mapped.settle { $0.signal = (Self.signal, 0) }
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            let (input, output) = (ends[0], ends[1])
            // Swift's module of the C library lacks these.
            typealias Wait = @convention(c) (Int32, UnsafeMutableRawPointer, Int32, Int32) -> Int32
            typealias Create = @convention(c) (Int32) -> Int32
            let wait = unsafeBitCast(try #require(dlsym(nil, "epoll_wait")), to: Wait.self)
            let create = unsafeBitCast(try #require(dlsym(nil, "epoll_create1")), to: Create.self)
            let poller = create(0)
            _ = Glibc.signal(SIGUSR1) { _ in }
            let entry = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
            let long = timespec(tv_sec: 1000, tv_nsec: 0)
            let calls: [(ends: Bool, call: @Sendable () -> Int32)] = [
                (
                    false,
                    {
                        var entry = entry
                        return poll(&entry, 1, -1)
                    }
                ),
                (
                    false,
                    {
                        var (set, long) = (fd_set(), timeval(tv_sec: 1000, tv_usec: 0))
                        withUnsafeMutableBytes(of: &set) { bits in
                            bits[Int(input) / 8] |= 1 << UInt8(input % 8)
                        }
                        return select(input + 1, &set, nil, nil, &long)
                    }
                ),
                // These end by the program's own signals, as ever.
                (
                    true,
                    {
                        // As sleep(3) does: what is left goes where the time came from.
                        var long = long
                        return withUnsafeMutablePointer(to: &long) { nanosleep($0, $0) }
                    }
                ),
                (
                    true,
                    {
                        var event: (UInt64, UInt64) = (0, 0)
                        return wait(poller, &event, 1, -1)
                    }
                ),
                // Lengths of time begin anew.
                (
                    false,
                    {
                        var entry = entry
                        return poll(&entry, 1, 1_000_000)
                    }
                ),
                (
                    true,
                    {
                        var long = long
                        return nanosleep(&long, nil)
                    }
                ),
                (
                    true,
                    {
                        var event: (UInt64, UInt64) = (0, 0)
                        return wait(poller, &event, 1, 1_000_000)
                    }
                ),
                (true, { pause() }),
                (
                    true,
                    {
                        var none = sigset_t()
                        sigemptyset(&none)
                        return sigsuspend(&none)
                    }
                ),
            ]
            for (index, (endsBySignal, call)) in calls.enumerated() {
                let waiter = Waiter(call)
                #expect(eventually { waiter.tid != nil })
                let tid = try #require(waiter.tid)
                let thread = KernelThread(process: getpid(), tid: tid)
                func waits() -> Bool {
                    guard case .blocked(let call, _) = thread.activity() else { return false }
                    return call >= 0 && call != 202
                }
                #expect(eventually { waits() })
                for _ in 0..<20 where waiter.result == nil {
                    let before = thread.counters()?.slices ?? 0
                    #expect(fl_signal_thread(getpid(), tid, Self.signal, 1) == 0)
                    #expect(
                        eventually {
                            waiter.result != nil
                                || (thread.counters()?.slices ?? 0) > before && waits()
                        })
                }
                #expect(waiter.result == nil, "call \(index): \(waiter.error)")
                if endsBySignal {
                    #expect(fl_signal_thread(getpid(), tid, SIGUSR1, 0) == 0)
                } else {
                    #expect(write(output, "x", 1) == 1)
                }
                #expect(eventually { waiter.result != nil })
                #expect(waiter.result == (endsBySignal ? -1 : 1), "call \(index)")
                if endsBySignal {
                    #expect(waiter.error == EINTR)
                } else {
                    var byte: UInt8 = 0
                    #expect(read(input, &byte, 1) == 1)
                }
            }
        }
    }

    /// What a handler is given of a thread whose call has just ended with EINTR, as it seems.
    ///
    /// Unsafe code: all of it lies within two blocks of memory.
    private final class InterruptedFrame {
        private let words = UnsafeMutablePointer<UInt64>.allocate(capacity: 64)
        private let code = UnsafeMutablePointer<UInt8>.allocate(capacity: 8)
        private let information = UnsafeMutablePointer<UInt64>.allocate(capacity: 16)
        private let end: UInt64

        init() {
            end = UInt64(UInt(bitPattern: code + 7))
            information.initialize(repeating: 0, count: 16)
        }

        deinit {
            words.deallocate()
            code.deallocate()
            information.deallocate()
        }

        /// The place of a register in a frame.
        enum Register: Int {
            case r8 = 5
            case r9, r10
            case rdi = 13
            case rsi
            case rax = 18
            case rcx, rsp, rip
        }

        /// Whether the handler has the call made once more.
        ///
        /// - Parameter behind: what the instruction for calls is to have left in rcx.
        func isMadeAgain(
            _ number: UInt32, _ registers: [Register: UInt64] = [:], behind: UInt64? = nil,
            by mapped: MappedArea
        ) -> Bool {
            let call = CallSites.Call.sigaction.code
            for (index, byte) in call.enumerated() { code[index] = byte }
            UnsafeMutableRawPointer(code).storeBytes(
                of: number, toByteOffset: 1, as: UInt32.self)
            words.initialize(repeating: 0, count: 64)
            for (register, value) in registers { words[register.rawValue] = value }
            words[Register.rax.rawValue] = UInt64(bitPattern: -Int64(EINTR))
            words[Register.rip.rawValue] = end
            words[Register.rcx.rawValue] = behind ?? end
            typealias Handler =
                @convention(c) (Int32, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void
            mapped.function(at: AreaCode.sampleHandler, as: Handler.self)(
                AreaSignalTests.signal, information, words)
            let isBefore = words[Register.rip.rawValue] == end - 2
            #expect(isBefore == (words[Register.rax.rawValue] == UInt64(number)))
            return isBefore
        }
    }

    private static func bit(_ signal: Int32) -> UInt64 { 1 << UInt64(signal - 1) }

    /// While a call's own mask blocks our signal, it cannot be that which ended it: that came when a
    /// handler of the program's, whose signal did, returned.
    @Test func aCallWhoseMaskBlocksOurSignalHasEnded() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            mapped.settle {
                $0.signal = (Self.signal, 0)
                $0.spare = Self.spare
            }
            let frame = InterruptedFrame()
            let mask = UnsafeMutablePointer<UInt64>.allocate(capacity: 3)
            let place = UInt64(UInt(bitPattern: mask))
            (mask[1], mask[2]) = (place, 8)
            let calls: [(number: UInt32, register: InterruptedFrame.Register, mask: UInt64)] = [
                (130, .rdi, place), (271, .r10, place), (281, .r8, place), (441, .r8, place),
                (270, .r9, place + 8), (333, .r9, place + 8),
            ]
            for call in calls {
                func isMadeAgain(_ value: UInt64) -> Bool {
                    mask[0] = value
                    return frame.isMadeAgain(call.number, [call.register: call.mask], by: mapped)
                }
                #expect(isMadeAgain(0), "call \(call.number)")
                #expect(isMadeAgain(~(Self.bit(Self.signal) | Self.bit(Self.spare))))
                #expect(!isMadeAgain(.max), "call \(call.number)")
                #expect(!isMadeAgain(Self.bit(Self.signal)))
                #expect(!isMadeAgain(Self.bit(Self.spare)))
                // What cannot be read.
                #expect(!frame.isMadeAgain(call.number, [call.register: 8], by: mapped))
                // None, but for the one that takes nothing else.
                #expect(frame.isMadeAgain(call.number, by: mapped) == (call.number != 130))
            }
            mask[1] = 8
            #expect(!frame.isMadeAgain(270, [.r9: place + 8], by: mapped))
            mask[1] = 0
            #expect(frame.isMadeAgain(270, [.r9: place + 8], by: mapped))
        }
    }

    /// A handler that blocks our signal holds it back until it returns: to a call that it has ended.
    @Test func nothingIsMadeAgainWhereHandlersBlockOurSignal() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            Self.settleWithSpare(mapped)
            let (_, calls) = try Self.calls(past: mapped)
            let sigaction = calls[CallSites.Call.sigaction.index]
            let frame = InterruptedFrame()
            func isMadeAgain() -> Bool { frame.isMadeAgain(35, by: mapped) }
            let handler = mapped.address + AreaCode.sampleHandler
            func set(_ handler: UInt64, mask: UInt64) -> Bool {
                var action = Action(handler: handler, flags: 0, restorer: 0, mask: mask)
                return sigaction(Int(SIGUSR1), &action, nil) == 0
            }
            #expect(isMadeAgain())
            #expect(set(handler, mask: ~(Self.bit(Self.signal) | Self.bit(Self.spare))))
            #expect(set(0, mask: .max) && set(1, mask: .max))
            #expect(isMadeAgain())
            #expect(set(handler, mask: Self.bit(Self.spare)))
            #expect(!isMadeAgain())
            #expect(set(0, mask: 0) && !isMadeAgain())
            // The next image begins anew.
            mapped.area.set(\.handlers_block, 0)
            #expect(isMadeAgain())
            #expect(set(handler, mask: Self.bit(Self.signal)) && !isMadeAgain())
        }
    }

    /// Of a program that runs already: the thread that brings the area in asks for each of them.
    @Test(arguments: [true, false]) func handlersThatAreThere(blocks: Bool) async {
        await #expect(processExitsWith: .success) { [blocks] in
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in }
            sigfillset(&action.sa_mask)
            if !blocks {
                for signal in [Self.signal, Self.spare] { sigdelset(&action.sa_mask, signal) }
            }
            #expect(sigaction(SIGUSR2, &action, nil) == 0)
            let mapped = try MappedArea()
            mapped.settle {
                $0.signal = (Self.signal, 0)
                $0.spare = Self.spare
            } prepare: {
                $0.set(\.handlers_block, UInt32(FL_HANDLERS_UNKNOWN))
            }
            #expect(mapped.area.handlersBlock == blocks)
        }
    }

    /// With FRED the processor's instruction for system calls leaves rcx alone.
    @Test func aCallIsKnownByItsCode() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let frame = InterruptedFrame()
            #expect(frame.isMadeAgain(35, behind: 0x1234, by: mapped))
            #expect(!frame.isMadeAgain(1, behind: 0x1234, by: mapped))
        }
    }

    /// The same by syscall(2), where nothing but our stand-in tells which call it is.
    @Test func callsByTheirNumberGoOn() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let page = try Self.calls(past: mapped).page
            let address = Int(bitPattern: page + 64 * CallSites.Call.syscall.index)
            @Sendable func call(_ number: Int, _ a: Int, _ b: Int, _ c: Int, _ d: Int) -> Int32 {
                Int32(clamping: unsafeBitCast(address, to: Numbered.self)(number, a, b, c, d, 0))
            }
            let words = UnsafeMutablePointer<Int>.allocate(capacity: 3)
            words.initialize(repeating: 0, count: 3)
            words[1] = 1000  // seconds, and nanoseconds
            let (word, long) = (Int(bitPattern: words), Int(bitPattern: words + 1))
            let (wait, wake) = (128, 129)  // FUTEX_WAIT_PRIVATE, FUTEX_WAKE_PRIVATE
            let waiter = Waiter { call(202, word, wait, 0, long) }
            #expect(eventually { waiter.tid != nil })
            let tid = try #require(waiter.tid)
            let thread = KernelThread(process: getpid(), tid: tid)
            func waits() -> Bool {
                guard case .blocked(202, let registers) = thread.activity() else { return false }
                return registers[5] == UInt64(word)
            }
            #expect(eventually { waits() })
            for _ in 0..<20 where waiter.result == nil {
                let before = thread.counters()?.slices ?? 0
                #expect(fl_signal_thread(getpid(), tid, Self.signal, 1) == 0)
                #expect(
                    eventually {
                        waiter.result != nil
                            || (thread.counters()?.slices ?? 0) > before && waits()
                    })
            }
            #expect(waiter.result == nil)
            words[0] = 1
            #expect(call(202, word, wake, 1, 0) == 1)
            #expect(eventually { waiter.result != nil })
            #expect(waiter.result == 0)
        }
    }

    /// A forked child has all of it, too, and what it does is its own business.
    @Test func aChildChangesNothing() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedArea()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let (_, calls) = try Self.calls(past: mapped)
            // Swift hides it, for most cannot be done in such a child.
            let fork = unsafeBitCast(
                try #require(dlsym(nil, "fork")), to: (@convention(c) () -> Int32).self)
            var set = UInt64.max
            var ignored = Action(handler: 1, flags: 0, restorer: 0, mask: 0)
            let child = fork()
            if child == 0 {
                _ = calls[CallSites.Call.prctl.index](38, nil, nil)  // PR_SET_NO_NEW_PRIVS
                _ = calls[CallSites.Call.sigmask.index](Int(SIG_SETMASK), &set, nil)
                _ = calls[CallSites.Call.sigaction.index](Int(Self.signal), &ignored, nil)
                _exit(0)
            }
            var status: Int32 = -1
            #expect(waitpid(child, &status, 0) == child && status == 0)
            #expect(!mapped.area.isFiltered && !mapped.area.isDisplaced)
            #expect(mapped.area.value(\.masks) == 0)
        }
    }

    /// Attempts that fail leave nothing behind: no descriptor, no notice.
    @Test func programsThatAreNotExecuted() async {
        await #expect(processExitsWith: .success) {
            let scratch = try Scratch()
            let noProgram = try scratch.write("\u{7F}nothing", to: "a")
            let mapped = try MappedArea()
            mapped.settle()
            let (page, calls) = try Self.calls(past: mapped)
            let execve = calls[CallSites.Call.execve.index]
            let syscall = unsafeBitCast(
                page + 64 * CallSites.Call.syscall.index, to: Numbered.self)
            let ways: [(Int) -> Int] = [
                { execve($0, nil, nil) },
                { syscall(59, $0, 0, 0, 0, 0) },
                { syscall(322, Int(AT_FDCWD), $0, 0, 0, 0) },  // execveat
            ]
            let free = fl_free_descriptor(0)
            for (path, error) in [
                ("/nonexistent", ENOENT), (noProgram, ENOEXEC), ("/", EACCES), ("", ENOENT),
            ] {
                for way in ways {
                    let before = Self.naps()
                    var text = Array(path.utf8CString)
                    let result = text.withUnsafeMutableBytes { bytes in
                        bytes.baseAddress.map { way(Int(bitPattern: $0)) }
                    }
                    #expect(result == -Int(error))
                    #expect(!mapped.area.isAboutToExecute)
                    #expect(mapped.area[\.next_area] == -1)
                    #expect(fl_free_descriptor(0) == free)
                    // The recorder is told, and given the time to follow.
                    #expect(error != ENOEXEC || Self.naps() - before >= 30)
                }
            }
        }
    }

    /// An attempt that a handler has left by a jump stands in nobody's way: the thread itself takes it
    /// over, others wait for it once. The memory that it has made is closed.
    @Test(arguments: [true, false]) func attemptsThatWereLeft(isOwn: Bool) async {
        await #expect(processExitsWith: .success) { [isOwn = isOwn as Bool] in
            let scratch = try Scratch()
            var text = Array(try scratch.write("\u{7F}nothing", to: "a").utf8CString)
            let mapped = try MappedArea()
            mapped.settle()
            let (_, calls) = try Self.calls(past: mapped)
            let execve = calls[CallSites.Call.execve.index]
            func attempt() -> Int? {
                text.withUnsafeMutableBytes { bytes in
                    bytes.baseAddress.map { execve(Int(bitPattern: $0), nil, nil) }
                }
            }
            let free = fl_free_descriptor(0)
            let left = fl_make_memory("left", 4096)
            try #require(left >= 0)
            mapped.area.write(
                withUnsafeBytes(of: left) { Array($0) },
                at: Int(FL_STATE) + (MemoryLayout<fl_state>.offset(of: \.next_area) ?? 0))
            mapped.area.set(\.execution, UInt32(FL_EXECUTION_FOLLOWED))
            let own = UInt32(bitPattern: OwnSignposts.thread)
            mapped.area.set(\.executor, isOwn ? own : own ^ 1)
            if !isOwn {
                #expect(attempt() == -Int(ENOEXEC))
                #expect(mapped.area.value(\.executor) == 0)
            }
            let before = Self.naps()
            #expect(attempt() == -Int(ENOEXEC))
            #expect(Self.naps() - before < 90)
            #expect(mapped.area.value(\.executor) == 0)
            #expect(mapped.area.value(\.execution) == UInt32(FL_EXECUTION_NONE))
            #expect(mapped.area[\.next_area] == -1)
            #expect(fl_free_descriptor(0) == free)
        }
    }

    /// A library that makes its calls where ours does.
    @Test func theCLibrarysCallsAreLedPastUs() async {
        await #expect(processExitsWith: .success) {
            let sites = try #require(CallSites.ofOwnLibrary)
            let all = sites.offsets
            let offsets = [all.0, all.1, all.2, all.3, all.4, all.5].map { Int($0) }
            let size = (offsets.max() ?? 0) / 4096 * 4096 + 8192
            let descriptor = fl_make_memory("library", size)
            try #require(descriptor >= 0)
            for (name, isLed) in [
                ("/lib/libm.so.6", false), ("/lib/libcurl.so.4", false),
                ("/usr/lib/libc.so.6", true), ("libc-2.31.so", true), ("", false),
            ] {
                let memory = try #require(fl_map_memory(descriptor, size))
                let start = UInt64(UInt(bitPattern: memory))
                for (offset, call) in zip(offsets, CallSites.Call.allCases) {
                    let code = call.code + [0xC3]
                    (memory + offset).copyMemory(from: code, byteCount: 8)
                }
                let words = offsets.map {
                    memory.loadUnaligned(fromByteOffset: $0, as: UInt64.self)
                }
                let mapped = try MappedArea()
                let linker = MadeLinker()
                mapped.settle {
                    $0.debug = linker.address
                    $0.sites = sites
                    $0.signal = (Self.signal, 0)
                }
                linker.add("")
                linker.set(.adds)
                mapped.tellOfChange()
                linker.add(name, bias: start)
                linker.set(.consistent)
                mapped.tellOfChange()
                let expected = zip(offsets, words).map { (start + UInt64($0), $1) }
                #expect(
                    mapped.area.hookedWords
                        == (isLed ? Dictionary(uniqueKeysWithValues: expected) : [:]))
                // Where none was, the recorder is waited for.
                #expect((mapped.area.time(\.gate_ns) == nil) == isLed)
                for (offset, call) in zip(offsets, CallSites.Call.allCases) {
                    let word = memory.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    let jump = LinkerHook.jump(
                        from: start + UInt64(offset),
                        to: mapped.address + AreaCode.standIn(for: call))
                    #expect((word & 0xFF_FFFF_FFFF == jump) == isLed)
                    #expect(word >> 40 == 0xC3_050F)
                }
                munmap(memory, size)
            }
        }
    }
}

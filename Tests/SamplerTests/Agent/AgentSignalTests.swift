import Architecture
import CAgent
import CSystem
import Glibc
import ProfileModel
import Synchronization
import System
import Testing

@testable import Agent
@testable import ProcessIO
@testable import Sampler

/// How the area's code handles signals and system calls: each test in a process of its own, whose
/// thread is sampled.
@Suite struct AgentSignalTests {
    /// A signal that nothing else uses.
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

    static func outstanding(_ area: AgentMemory) -> Int32 {
        area.outstanding.pointee.load(ordering: .sequentiallyConsistent)
    }

    static func stack() -> Range<UInt64> {
        var watch = MappingWatch(KernelAddressSpace(pid: getpid()))
        _ = watch.refreshed(at: .now)
        var word: UInt64 = 0
        let here = withUnsafeMutablePointer(to: &word) { UInt64(UInt(bitPattern: $0)) }
        return watch.region(around: here).map { $0.start..<$0.end } ?? 0..<0
    }

    @Test func aRequestIsAnswered() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory(stackBytes: 8192)
            mapped.settle { $0.signal = (Self.signal, 0) }
            let area = mapped.area
            let slots = SharedSlots(area: area, cookie: Self.cookie)
            // Without a report of the program's own action for the signal, no request is sent.
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
            // Elsewhere than expected: as many bytes as allowed.
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
            let mapped = try MappedAgentMemory()
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
            let mapped = try MappedAgentMemory()
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

    /// The flags in the kernel.
    static func flags(of signal: Int32) -> UInt64 {
        var action = sigaction()
        return sigaction(signal, nil, &action) == 0
            ? UInt64(UInt32(bitPattern: action.sa_flags)) : .max
    }

    /// A program that puts its handlers on alternate stacks has a reason for it.
    @Test func theSpareGoesWhereTheProgramsHandlerDoes() async {
        for flag in [0, 0x0800_0000] as [UInt64] {  // SA_ONSTACK
            await #expect(processExitsWith: .success) { [flag = flag as UInt64] in
                let mapped = try MappedAgentMemory()
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

    /// Just before we leave, the program takes the signal for itself.
    @Test func aSpareThatIsRefusedIsLeftAlone() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            Self.settleWithSpare(mapped)
            let (_, calls) = try Self.calls(past: mapped)
            let before = mapped.area.signals
            #expect(mapped.area.refuseSpare() && before.count == 1)
            var ignored = Action(handler: 1, flags: 0, restorer: 0, mask: 0)
            let act = calls[CallSites.Call.sigaction.index]
            #expect(act(Int(Self.signal), &ignored, nil) == 0)
            #expect(mapped.area.isDisplaced && mapped.area.signals == before)
            var spare = sigaction()
            #expect(sigaction(Self.spare, nil, &spare) == 0)
            #expect(spare.__sigaction_handler.sa_handler == nil)
        }
    }

    /// A signal that is not a request of ours has no effect.
    @Test func otherSignalsAreIgnored() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
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
            let mapped = try MappedAgentMemory()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            let slot = try #require(slots.take())
            #expect(slots.request(slot, stack: 0..<0, limit: 64, masks: 0) == .ready)
            mapped.area.silence()
            Self.ask(slots, slot)
            #expect(slots.state(of: slot) == .declined)
            #expect(Self.outstanding(mapped.area) == 0)
            slots.free(slot)
            #expect(slots.state(of: slot) == .idle)
            #expect(slots.request(slot, stack: 0..<0, limit: 64, masks: 0) == .refused)
            #expect(Self.outstanding(mapped.area) == 0)
        }
    }

    // MARK: The spare signal

    static let spare: Int32 = 46

    static func settleWithSpare(_ mapped: MappedAgentMemory) {
        mapped.settle {
            $0.signal = (signal, 0)
            $0.spare = spare
        }
    }

    /// Asked by the spare signal, a thread of ours answers as it does to the first.
    static func expectAnswer(bySpare slots: SharedSlots) throws {
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
            let mapped = try MappedAgentMemory()
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
            // The program can see nothing of it.
            var old = Action()
            #expect(sigaction(Int(Self.spare), nil, &old) == 0)
            #expect(old.handler == 0 && old.flags == 0 && old.mask == 0 && old.restorer == 0)
            #expect(sigaction(Int(Self.signal), nil, &old) == 0)
            #expect(old.handler == 1)
            // Until the program wants that one, too.
            #expect(sigaction(Int(Self.spare), &ignored, &old) == 0)
            #expect(old.handler == 0 && !slots.hasSpare)
            #expect(slots.request(0, stack: 0..<0, limit: 64, masks: 0, bySpare: true) == .refused)
            #expect(sigaction(Int(Self.spare), nil, &old) == 0)
            #expect(old.handler == 1 && mapped.area.signals.map(\.number) == [Self.signal])
        }
    }

    @Test func aProgramThatBlocksTheFirstLeavesTheSpare() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            Self.settleWithSpare(mapped)
            let (_, calls) = try Self.calls(past: mapped)
            let sigmask = calls[CallSites.Call.sigmask.index]
            let slots = SharedSlots(area: mapped.area, cookie: Self.cookie)
            let bits = (first: UInt64(1) << 44, spare: UInt64(1) << 45)
            // All signals are blocked for a moment: that is not a use of this one.
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
            let mapped = try MappedAgentMemory()
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
}

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

/// Calls that a signal of ours ended; they are repeated if they did nothing.
extension AgentSignalTests {
    /// A thread's call, and its result.
    final class Waiter: Sendable {
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
            let mapped = try MappedAgentMemory()
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
                        // As in sleep(3): the remaining time is written to where the time came
                        // from.
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
                    let before = thread.counters()?.timeslices ?? 0
                    #expect(fl_signal_thread(getpid(), tid, Self.signal, 1) == 0)
                    #expect(
                        eventually {
                            waiter.result != nil
                                || (thread.counters()?.timeslices ?? 0) > before && waits()
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

    /// Calls that fill memory with zeros or random numbers return early when a signal comes. After
    /// a signal of ours the rest is fetched; other short results may have had a reason.
    @Test func callsCutShortByOurSignalAreCompleted() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let size = 16384
            let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: size)
            let start = UInt64(UInt(bitPattern: buffer.baseAddress))
            let frame = InterruptedFrame()
            func result(
                ofReading file: Int32, got: Int, wanted: Int = size, isShort: Bool = false
            ) -> Int {
                buffer.initialize(repeating: 0xA5)
                return frame.result(
                    of: 0, got: got,
                    [.rdi: UInt64(bitPattern: Int64(file)), .rsi: start, .rdx: UInt64(wanted)],
                    isShort: isShort,
                    by: mapped)
            }
            let zero = open("/dev/zero", O_RDONLY)
            for isShort in [false, true] {
                #expect(result(ofReading: zero, got: 4096, isShort: isShort) == size)
                #expect(buffer[..<4096].allSatisfy { $0 == 0xA5 })
                #expect(buffer[4096...].allSatisfy { $0 == 0 })
            }
            #expect(result(ofReading: zero, got: 4096, wanted: 4096) == 4096)
            #expect(result(ofReading: zero, got: 0) == 0)
            #expect(buffer.allSatisfy { $0 == 0xA5 })
            #expect(result(ofReading: open("/dev/urandom", O_RDONLY), got: 4096) == size)
            #expect(buffer[4096...].contains { $0 != 0xA5 })
            for path in ["/proc/self/exe", "/dev/null", "/proc/self/maps"] {
                #expect(result(ofReading: open(path, O_RDONLY), got: 4096) == 4096)
            }
            #expect(result(ofReading: -1, got: 4096) == 4096)
            buffer.initialize(repeating: 0xA5)
            let random = frame.result(
                of: 318, got: 256, [.rdi: start, .rsi: UInt64(size), .rdx: 0], by: mapped)
            #expect(random == size)
            #expect(buffer[..<256].allSatisfy { $0 == 0xA5 })
            #expect(buffer[256...].contains { $0 != 0xA5 })
            // Another call, of the same arguments.
            let written = frame.result(
                of: 1, got: 4096,
                [.rdi: UInt64(bitPattern: Int64(zero)), .rsi: start, .rdx: UInt64(size)], by: mapped
            )
            #expect(written == 4096)
        }
    }

    static func bit(_ signal: Int32) -> UInt64 { 1 << UInt64(signal - 1) }

    /// If a call's own mask blocks our signal, our signal cannot have ended it: a signal of the
    /// program's did, and ours came when its handler returned.
    @Test func aCallWhoseMaskBlocksOurSignalHasEnded() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
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
                // Memory that cannot be read.
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
            let mapped = try MappedAgentMemory()
            Self.settleWithSpare(mapped)
            let (_, calls) = try Self.calls(past: mapped)
            let sigaction = calls[CallSites.Call.sigaction.index]
            let frame = InterruptedFrame()
            func isMadeAgain() -> Bool { frame.isMadeAgain(35, by: mapped) }
            let handler = mapped.address + AgentCode.sampleHandler
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

    /// In a program that runs already, the thread that brings the area in asks for each handler.
    @Test(arguments: [true, false]) func handlersThatAreThere(blocks: Bool) async {
        await #expect(processExitsWith: .success) { [blocks] in
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in }
            sigfillset(&action.sa_mask)
            if !blocks {
                for signal in [Self.signal, Self.spare] { sigdelset(&action.sa_mask, signal) }
            }
            #expect(sigaction(SIGUSR2, &action, nil) == 0)
            let mapped = try MappedAgentMemory()
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
            let mapped = try MappedAgentMemory()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let frame = InterruptedFrame()
            #expect(frame.isMadeAgain(35, behind: 0x1234, by: mapped))
            #expect(!frame.isMadeAgain(1, behind: 0x1234, by: mapped))
        }
    }

    /// glibc's functions for several threads fetch arguments back from the stack in between (2.36:
    /// epoll_pwait, pselect, msgrcv, recvfrom).
    @Test func loadsBeforeACall() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
            mapped.settle { $0.signal = (Self.signal, 0) }
            let frame = InterruptedFrame()
            let loads: [[UInt8]] = [
                [0x8B, 0x7C, 0x24, 4], [0x48, 0x8B, 0x74, 0x24, 8], [0x48, 0x8B, 0x54, 0x24, 16],
            ]
            for load in loads {
                #expect(frame.isMadeAgain(35, loads: load, by: mapped))
                for other in loads {
                    #expect(frame.isMadeAgain(35, loads: load + other, by: mapped))
                }
                #expect(!frame.isMadeAgain(1, loads: load, by: mapped))
            }
            // mov 4(%rbp), %edi
            #expect(!frame.isMadeAgain(35, loads: [0x8B, 0x7D, 0x04, 0x90], by: mapped))
        }
    }

    /// The same by syscall(2), where nothing but our stand-in tells which call it is.
    @Test func callsByTheirNumberGoOn() async {
        await #expect(processExitsWith: .success) {
            let mapped = try MappedAgentMemory()
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
                let before = thread.counters()?.timeslices ?? 0
                #expect(fl_signal_thread(getpid(), tid, Self.signal, 1) == 0)
                #expect(
                    eventually {
                        waiter.result != nil
                            || (thread.counters()?.timeslices ?? 0) > before && waits()
                    })
            }
            #expect(waiter.result == nil)
            words[0] = 1
            #expect(call(202, word, wake, 1, 0) == 1)
            #expect(eventually { waiter.result != nil })
            #expect(waiter.result == 0)
        }
    }
}

import CSystem
import Glibc
import Testing

@testable import ProcessIO
@testable import Sampler

/// Whether a stopped thread is within a restartable sequence (rseq(2)).
@Suite(.serialized, .enabled(if: Loop.offset != nil, "this C library registers no sequences"))
struct SequenceTests {
    @Test func withinAndOutside() throws {
        let within = try Loop(isSequence: true)
        #expect(try eventually { try within.stopped { $0.isInSequence } })
        let outside = try Loop(isSequence: false)
        for _ in 0..<20 { #expect(try !outside.stopped { $0.isInSequence }) }
    }

    /// The process runs other tests, whose monitor of children would spin for it.
    @Test func nothingIsLeftOfThem() throws {
        var loop: Loop? = try Loop(isSequence: false)
        let pid = try #require(loop?.pid)
        loop = nil
        #expect(kill(pid, 0) != 0 && errno == ESRCH)
    }

    /// Before Linux 5.13 the kernel does not report sequences: a running thread may be within one.
    @Test func anOldKernel() async {
        await #expect(processExitsWith: .success) {
            let loop = try Loop(isSequence: false)
            let sleeper = try Loop(isSequence: nil)
            Filter(deniesSequences: false).install()
            // At first it is in the call that made it.
            #expect(try eventually { try loop.stopped { $0.isInSequence } })
            // No thread makes a system call within a sequence.
            #expect(try eventually { try sleeper.stopped { !$0.isInSequence } })
        }
    }

    /// And before 4.18 there are none.
    @Test func aVeryOldKernel() async {
        await #expect(processExitsWith: .success) {
            let loop = try Loop(isSequence: false)
            Filter(deniesSequences: true).install()
            for _ in 0..<20 { #expect(try !loop.stopped { $0.isInSequence }) }
        }
    }
}

private func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<10_000 {
        if try condition() { return true }
        sched_yield()
    }
    return false
}

/// A traced child that runs in a loop, which is a sequence or not, or (nil) waits in a call.
///
/// Unsafe code: machine code that this file writes.
private final class Loop {
    private let tracee: Tracee
    let pid: Int32

    /// Where the C library's sequences are registered, from the thread's pointer.
    static var offset: Int? {
        guard let size = dlsym(nil, "__rseq_size"), let offset = dlsym(nil, "__rseq_offset"),
            size.load(as: UInt32.self) > 0
        else { return nil }
        return offset.load(as: Int.self)
    }

    init(isSequence: Bool?) throws {
        let memory = try #require(
            mmap(nil, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        let code: [UInt8] = [
            0x64, 0x48, 0x8B, 0x04, 0x25, 0, 0, 0, 0,  // mov %fs:0, %rax
            0x48, 0x01, 0xF8,  // add %rdi, %rax
            0x48, 0x89, 0x70, 0x08,  // mov %rsi, 8(%rax): the sequence begins
            0xEB, 0xFE,  // jmp to itself: the sequence
            0x53, 0x30, 0x05, 0x53,  // the signature in front of where it is left
            0xEB, 0xF4,  // jmp to where it begins
        ]
        memory.copyMemory(from: code, byteCount: code.count)
        let start = UInt64(UInt(bitPattern: memory))
        // struct rseq_cs: version and flags, start, length, where it is left.
        let sequence: [UInt64] = [0, start + 16, 2, start + 22]
        (memory + 4096).copyMemory(from: sequence, byteCount: 32)
        try #require(mprotect(memory, 4096, PROT_READ | PROT_EXEC) == 0)
        let run = unsafeBitCast(memory, to: (@convention(c) (Int, Int) -> Void).self)
        let offset = try #require(Self.offset)
        let fork = unsafeBitCast(
            try #require(dlsym(nil, "fork")), to: (@convention(c) () -> Int32).self)
        pid = fork()
        if pid == 0 {
            if isSequence == nil { pause() }
            run(offset, isSequence == true ? Int(start) + 4096 : 0)
        }
        try #require(pid > 0)
        tracee = Tracee(tid: pid)
        try tracee.seize(followingChildren: false)
    }

    func stopped(_ look: (Tracee) -> Bool) throws -> Bool {
        var status: Int32 = 0
        try tracee.interrupt()
        try #require(fl_wait_briefly(pid, &status) == pid)
        defer { try? tracee.resume() }
        return look(tracee)
    }

    deinit { Child.end(pid) }
}

/// Simulates an older kernel: PTRACE_GET_RSEQ_CONFIGURATION is not known, perhaps rseq neither.
private struct Filter {
    /// struct sock_filter: code, jumps if true and if false, value.
    private let program: [(code: UInt16, yes: UInt8, no: UInt8, value: UInt32)]

    init(deniesSequences: Bool) {
        program = [
            (0x20, 0, 0, 0),  // the call's number
            (0x15, 0, 3, 101),  // ptrace
            (0x20, 0, 0, 16),  // its request
            (0x15, 0, 2, 0x420F),
            (0x06, 0, 0, 0x5_0000 | UInt32(EIO)),
            (0x15, 1, 0, deniesSequences ? 334 : .max),  // rseq
            (0x06, 0, 0, 0x7FFF_0000),  // SECCOMP_RET_ALLOW
            (0x06, 0, 0, 0x5_0000 | UInt32(ENOSYS)),
        ]
    }

    func install() {
        typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        guard let address = dlsym(nil, "prctl") else { return }
        let control = unsafeBitCast(address, to: Control.self)
        let words = program.map {
            UInt64($0.code) | UInt64($0.yes) << 16 | UInt64($0.no) << 24 | UInt64($0.value) << 32
        }
        words.withUnsafeBytes { bytes in
            // struct sock_fprog
            let header = [UInt(words.count), UInt(bitPattern: bytes.baseAddress)]
            header.withUnsafeBytes { header in
                #expect(control(38, 1, 0, 0, 0) == 0)  // PR_SET_NO_NEW_PRIVS
                let place = UInt(bitPattern: header.baseAddress)
                #expect(control(22, 2, place, 0, 0) == 0)  // PR_SET_SECCOMP
            }
        }
    }
}

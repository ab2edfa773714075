import CSystem
import Glibc
import ProfileModel
import System
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

/// One after the other: memory that one test unmaps could be mapped again by another at the same
/// place.
@Suite(.serialized) struct MappingWatchTests {
    private static func map(_ protection: Int32, count: Int) throws -> UnsafeMutableRawPointer {
        let memory = mmap(nil, count, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        return try #require(memory == MAP_FAILED ? nil : memory)
    }

    private static func address(_ pointer: UnsafeMutableRawPointer) -> UInt64 {
        UInt64(UInt(bitPattern: pointer))
    }

    /// The macros cannot look into a value that is not copyable.
    private static func mapped(_ watch: borrowing MappingWatch, _ address: UInt64) -> Bool {
        watch.isCode(address)
    }

    @Test func ourOwnCode() throws {
        var watch = MappingWatch(KernelAddressSpace(pid: getpid()))
        let refreshed = watch.refreshed(at: .now)
        let code = try #require(refreshed)
        #expect(zip(code, code.dropFirst()).allSatisfy { $0.end <= $1.start })
        #expect(code.contains { $0.path == "[vdso]" })
        #expect(!code.contains { $0.path == "[vsyscall]" })
        let function = try #require(dlsym(nil, "malloc"))
        let answers = [
            Self.mapped(watch, Self.address(function)), Self.mapped(watch, 0),
            Self.mapped(watch, .max),
        ]
        #expect(answers == [true, false, false])
    }

    @Test func newCodeIsNoticedWhenReadAnew() throws {
        var watch = MappingWatch(KernelAddressSpace(pid: getpid()))
        _ = watch.refreshed(at: .now)
        let page = try Self.map(PROT_READ | PROT_EXEC, count: 4096)
        let address = Self.address(page)
        let before = Self.mapped(watch, address)
        let isNews = watch.refreshed(at: .now) != nil
        let meanwhile = Self.mapped(watch, address)
        munmap(page, 4096)
        let isNewsAgain = watch.refreshed(at: .now) != nil
        let after = Self.mapped(watch, address)
        #expect(
            [before, isNews, meanwhile, isNewsAgain, after] == [false, true, true, true, false])
    }

    /// Code that was mapped while the list was read may be missing in it.
    @Test func codeThatTheListLacks() throws {
        var watch = MappingWatch(KernelAddressSpace(pid: getpid()))
        let never = watch.lacksCode()
        _ = watch.refreshed(at: .now)
        // Other tests map some, too, but not as much.
        let size = 997 * 4096
        let code = try Self.map(PROT_READ | PROT_EXEC, count: size)
        let isLacking = watch.lacksCode()
        _ = watch.refreshed(at: .now)
        munmap(code, size)
        let isLackingAgain = watch.lacksCode()
        #expect([never, isLacking, isLackingAgain] == [false, true, true])
    }

    /// The watch knows the time of the last change, whichever reader noticed it first.
    @Test func theLastChangeIsKept() throws {
        var watch = MappingWatch(KernelAddressSpace(pid: getpid()))
        let none = watch.lastChange
        _ = watch.refreshed(at: MonotonicTime(nanoseconds: 1))
        let first = watch.lastChange
        let page = try Self.map(PROT_READ | PROT_EXEC, count: 4096)
        defer { munmap(page, 4096) }
        let isNews = watch.refreshed(at: MonotonicTime(nanoseconds: 2)) != nil
        let second = watch.lastChange
        watch.restart()
        let afterwards = watch.lastChange
        #expect(isNews && none == nil && afterwards == nil)
        #expect(first?.nanoseconds == 1 && second?.nanoseconds == 2)
    }

    /// Only the list shows writable code, and reading it costs the program time: without findings
    /// it is read less and less often.
    @Test func aProgramThatMapsDataIsReadMoreAndMoreSeldom() throws {
        var watch = MappingWatch(KernelAddressSpace(pid: getpid()))
        let start = MonotonicTime.now
        _ = watch.changes(at: start)
        var pages: [UnsafeMutableRawPointer] = []
        defer { for page in pages { munmap(page, 4096) } }
        var (reads, finds) = (0, 0)
        for look in 1...200 {
            pages.append(try Self.map(PROT_READ, count: 4096))
            let before = watch.lastRead
            let found = watch.changes(at: start + .milliseconds(11 * Int64(look)))
            reads += watch.lastRead == before ? 0 : 1
            finds += found == nil ? 0 : 1
        }
        // 2.2 s: after 20, 60, 140 and 300 ms, then each 320; and after whatever others map meanwhile.
        let most = 10 + 5 * finds
        #expect(reads > 0 && reads <= most, "\(reads) reads, \(finds) of them with something new")
    }

    /// A single move of the size, long before the next reading is due, is not forgotten.
    @Test func writableCodeIsFoundInTheEnd() throws {
        var watch = MappingWatch(KernelAddressSpace(pid: getpid()))
        let start = MonotonicTime.now
        _ = watch.changes(at: start)
        var pages: [UnsafeMutableRawPointer] = []
        defer { for page in pages { munmap(page, 4096) } }
        for look in 1...100 {
            pages.append(try Self.map(PROT_READ, count: 4096))
            _ = watch.changes(at: start + .milliseconds(11 * Int64(look)))
        }
        let code = try Self.map(PROT_READ | PROT_WRITE | PROT_EXEC, count: 4096)
        pages.append(code)
        for look in 101...131 {
            _ = watch.changes(at: start + .milliseconds(11 * Int64(look)))
        }
        let isKnown = Self.mapped(watch, Self.address(code))
        #expect(isKnown)
    }

    /// A thread's stack: memory right behind a guard page.
    @Test func stacksAreToldFromOtherMemory() throws {
        let memory = try Self.map(PROT_READ | PROT_WRITE, count: 5 * 4096)
        defer { munmap(memory, 5 * 4096) }
        mprotect(memory + 4096, 4096, PROT_NONE)
        mprotect(memory + 3 * 4096, 4096, PROT_READ)
        var watch = MappingWatch(KernelAddressSpace(pid: getpid()))
        _ = watch.refreshed(at: .now)
        let start = Self.address(memory)
        let stack = watch.region(around: start + 2 * 4096 + 8)
        let other = watch.region(around: start + 3 * 4096)
        let none = [watch.region(around: 0), watch.region(around: .max)]
        #expect(stack?.start == start + 2 * 4096)
        #expect(stack?.end == start + 3 * 4096)
        #expect(stack?.isStack == true)
        #expect(other?.isStack == false)
        #expect(none == [nil, nil])
    }

    @Test func aProcessThatIsGoneHasNothing() {
        var watch = MappingWatch(KernelAddressSpace(pid: .max))
        let changes = watch.changes(at: .now)
        let refreshed = watch.refreshed(at: .now)
        watch.restart()
        let region = watch.region(around: 4096)
        #expect(changes == nil && refreshed == nil && region == nil)
    }

    /// The kernel returns the list in pages; a process that ends between two of them shows only the
    /// first ones.
    @Test func theListOfAnEndingProcessIsWholeOrNone() throws {
        for _ in 0..<100 {
            let pid = try Self.spawn("/bin/true", preloading: "libdw.so.1 libsqlite3.so.0")
            defer { waitpid(pid, nil, 0) }
            var watch = MappingWatch(KernelAddressSpace(pid: pid))
            var isLoaded = false
            var state = siginfo_t()
            while waitid(P_PID, id_t(pid), &state, WEXITED | WNOHANG | WNOWAIT) == 0,
                state.si_signo == 0
            {
                guard let code = watch.refreshed(at: .now) else { continue }
                let isWhole = code.contains { $0.path == "[vdso]" }
                #expect(isWhole || !isLoaded, "\(code.map(\.path))")
                isLoaded = isLoaded || isWhole && code.contains { $0.path.contains("libsqlite3") }
            }
        }
    }

    // MARK: Where the linker tells how many libraries there are

    /// Without a report from the linker the list is not read again, even if something is mapped in
    /// the meantime.
    @Test func noReportMeansNoReading() throws {
        var watch = MappingWatch(KernelAddressSpace(pid: getpid()))
        let now = MonotonicTime.now
        let first = watch.changes(at: now, libraries: 5)
        #expect(first?.isEmpty == false)
        // Now and then the watch looks by itself: it has just done so.
        _ = watch.changes(at: now + .milliseconds(11), libraries: 5)
        let read = watch.lastRead
        let page = try Self.map(PROT_READ | PROT_EXEC, count: 4096)
        defer { munmap(page, 4096) }
        for nanoseconds in [0, 1, 5_000_000, 10_000_000] as [Int64] {
            let time = now + .milliseconds(11) + TimeSpan(nanoseconds: nanoseconds)
            let changes = watch.changes(at: time, libraries: 5)
            #expect(changes == nil)
        }
        let isRead = watch.lastRead != read
        let isKnown = Self.mapped(watch, Self.address(page))
        #expect(!isRead && !isKnown)
        // Another number, be it smaller, is news.
        let changes = watch.changes(at: now + .milliseconds(12), libraries: 4)
        let isKnownNow = Self.mapped(watch, Self.address(page))
        #expect(changes != nil && isKnownNow)
        #expect(watch.lastRead == now + .milliseconds(12))
    }

    @Test func everyNewNumberIsReadOnce() {
        var watch = MappingWatch(KernelAddressSpace(pid: getpid()))
        let start = MonotonicTime.now
        // So that the looks of its own are not due.
        _ = watch.changes(at: start)
        var told: Int?
        for (index, number) in [0, 1, 1, 2, 2, 2, 0, .max, -5, -5].enumerated() {
            let before = watch.lastRead
            _ = watch.changes(
                at: start + TimeSpan(nanoseconds: Int64(index + 1)), libraries: number)
            let isRead = watch.lastRead != before
            #expect(isRead == (told != number))
            told = number
        }
    }

    /// When the reports end, the watch looks at the sizes again.
    @Test func whenNobodyTellsAnyMore() throws {
        var watch = MappingWatch(KernelAddressSpace(pid: getpid()))
        let now = MonotonicTime.now
        _ = watch.changes(at: now, libraries: 3)
        let page = try Self.map(PROT_READ | PROT_EXEC, count: 4096)
        defer { munmap(page, 4096) }
        _ = watch.changes(at: now + .milliseconds(1))
        let isKnown = Self.mapped(watch, Self.address(page))
        #expect(isKnown)
    }

    /// Another program's libraries are counted anew, even if they are as many.
    @Test func aLaterProgram() {
        var watch = MappingWatch(KernelAddressSpace(pid: getpid()))
        let now = MonotonicTime.now
        _ = watch.changes(at: now, libraries: 3)
        watch.restart()
        let isEmpty = watch.code.isEmpty && watch.region(around: 0) == nil
        let changes = watch.changes(at: now, libraries: 3)
        #expect(isEmpty && changes?.isEmpty == false)
    }

    @Test func toldOfAProcessThatIsGone() {
        var watch = MappingWatch(KernelAddressSpace(pid: .max))
        for number in [0, 1, 1, 2] {
            let changes = watch.changes(at: .now, libraries: number)
            #expect(changes == nil)
        }
    }

    private static func spawn(_ path: String, preloading libraries: String) throws -> pid_t {
        var arguments = [strdup(path), nil]
        var environment = [strdup("LD_PRELOAD=\(libraries)"), nil]
        defer { for text in arguments + environment { free(text) } }
        var pid: pid_t = 0
        try #require(posix_spawn(&pid, path, nil, nil, &arguments, &environment) == 0)
        return pid
    }

    /// Additional mappings are added only where none was seen, and the next reading of the list
    /// overrides them.
    @Test func mappingsOfAnEndedProcessAreAdded() throws {
        var watch = MappingWatch(KernelAddressSpace(pid: getpid()))
        let known = CodeMapping(
            start: 0x1000, end: 0x3000, fileOffset: 0, path: "/lib/a.so", inode: 0, buildID: [1])
        let added = watch.add([known], at: .now)
        #expect(added == [known])
        let again = watch.add([known], at: .now)
        #expect(again == nil)
        var overlapping = known
        overlapping.start = 0x2000
        overlapping.end = 0x4000
        let more = watch.add([overlapping], at: .now)
        #expect(more == nil)
        let refreshed = watch.refreshed(at: .now)
        let code = try #require(refreshed)
        #expect(!code.contains(known))
    }

    /// With reported mappings, the uppermost one at each address counts.
    @Test(arguments: 1...60) func toldMappings(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var watch = MappingWatch(KernelAddressSpace(pid: getpid()))
        watch.restart(isReported: true)
        var pages: [UInt64: (path: String, offset: UInt64)] = [:]
        for number in 0..<30 {
            let start = UInt64.random(in: 0..<40, using: &random)
            let size = UInt64.random(in: 1..<10, using: &random)
            let mapping = CodeMapping(
                start: start, end: start + size, fileOffset: UInt64(1000 * number),
                path: "/\(number)", inode: UInt64(number))
            let isReported = watch.map([mapping], at: .now)
            #expect(isReported)
            for page in 0..<size {
                pages[start + page] = (mapping.path, mapping.fileOffset + page)
            }
            let code = watch.code
            #expect(zip(code, code.dropFirst()).allSatisfy { $0.end <= $1.start })
            #expect(code.reduce(0) { $0 + ($1.end - $1.start) } == UInt64(pages.count))
            for part in code {
                for page in part.start..<part.end {
                    #expect(pages[page]?.path == part.path)
                    #expect(pages[page]?.offset == part.fileOffset + (page - part.start))
                }
            }
        }
        // The real mappings are not read until the process makes code itself.
        let changes = watch.changes(at: .now)
        #expect(changes == nil)
        let made = CodeMapping(start: 100, end: 101, fileOffset: 0, path: "", inode: 0)
        let isReported = watch.map([made], at: .now)
        let read = watch.changes(at: .now)
        #expect(!isReported && read?.contains { $0.path == "[vdso]" } == true)
    }
}

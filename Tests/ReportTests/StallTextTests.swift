import MadeRecordings
import ProfileModel
import Report
import Testing

@Suite struct StallTextTests {
    private func thread(
        _ index: ThreadIndex, _ tid: Int32, _ name: String = "app", state: Character = "S",
        call: Int32? = 202, futex: FutexWait? = nil
    ) -> StalledThread {
        StalledThread(
            thread: index, tid: tid, name: name, state: state.asciiValue, systemCall: call,
            futex: futex)
    }

    private func render(_ threads: [StalledThread], _ recording: Recording) -> String {
        StallText.render(
            Stall(time: RecordingBuilder.at(100), threads: threads), in: recording)
    }

    @Test func theLastStackInnermostFirst() {
        var builder = RecordingBuilder()
        let main = builder.thread("app", tid: 100, isMain: true)
        let early = builder.stack("_start", "main", "early")
        let late = builder.stack([
            .init("_start"), .init("main", file: "/src/main.c", line: 7),
            .init(
                "wait", "/usr/lib/libc.so.6", file: "/glibc/futex.c", line: 9,
                inlined: [
                    SourceFrame(function: "inner", file: "/glibc/i.h", line: 3, isInlined: true)
                ]),
        ])
        // In whatever order they were written.
        builder.slice(main, at: 50, blocked: 50, late, call: 202)
        builder.slice(main, at: 0, running: 50, early)
        #expect(
            render([thread(main, 100)], builder.recording) == """

                Thread 100 'app', main: waits in futex
                      inner (inlined) in libc.so.6 (/glibc/i.h:3)
                      wait in libc.so.6 (/glibc/futex.c:9)
                    ● main in app (/src/main.c:7)
                    ● _start in app

                """)
    }

    @Test func theReasonOfAStallIsNamed() {
        var builder = RecordingBuilder()
        let index = builder.thread("app", tid: 100, isMain: true)
        func line(_ thread: StalledThread) -> String {
            let other = self.thread(ThreadIndex(1), 101, "other", call: nil)
            let lines = render([thread, other], builder.recording).split(separator: "\n")
            return String(lines.first?.split(separator: ": ", maxSplits: 1).last ?? "")
        }
        func futex(_ wait: FutexWait) -> String { line(thread(index, 100, futex: wait)) }
        #expect(
            futex(.mutex(0x70a0, owner: 101))
                == "waits for the mutex at 0x70a0, which thread 101 'other' holds")
        #expect(futex(.mutex(1, owner: 100)).hasSuffix("thread 100 'app' (itself) holds"))
        #expect(futex(.end(of: 101)) == "waits for thread 101 'other' to end")
        #expect(
            futex(.readWriteLock(16, owner: 101))
                == "waits for the read-write lock at 0x10, which thread 101 'other' holds")
        #expect(futex(.condition(16)) == "waits for the condition at 0x10")
        #expect(futex(.semaphore(16)) == "waits for the semaphore at 0x10")
        #expect(futex(.other(16)).hasPrefix("waits in futex at 0x10 (a condition"))
        #expect(line(thread(index, 100, call: 0)) == "waits in read")
        #expect(line(thread(index, 100, state: "D", call: 0)) == "waits in read (uninterruptibly)")
        #expect(line(thread(index, 100, call: -1)) == "blocked outside a system call")
        #expect(line(thread(index, 100, state: "R", call: nil)) == "runs, or waits for a core")
    }

    @Test func aStackThatIsNotWhole() {
        var builder = RecordingBuilder()
        let main = builder.thread("app", tid: 100, isMain: true)
        let worker = builder.thread("a\u{1b}b", tid: 101)
        let stack = builder.stack("work")
        builder.slice(main, at: 0, running: 50, stack, truncation: .stackLimit)
        let text = render(
            [thread(main, 100), thread(worker, 101, "a\u{1b}b")], builder.recording)
        #expect(text.contains("● work in app\n      … (its callers are not known)\n"))
        #expect(text.contains("Thread 101 'a\\u{1b}b': waits in futex\n      (no stack)\n"))
    }
}

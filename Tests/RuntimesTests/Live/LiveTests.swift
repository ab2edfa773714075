import Glibc
import ProfileModel
import Runtimes
import TestSupport
import Testing

/// Every interpreter of this machine runs a program that stops at many places and prints its
/// stacks: those read from its memory must be the same.
@Suite(.serialized, .enabled(if: Pythons.areThere, "there is no Python"))
struct LiveTests {
    private static let folder =
        "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/Python/Subject"

    @Test func `continuous integration has the system's Python`() {
        #expect(!isContinuousIntegration || Pythons.all.contains("/usr/bin/python3"))
    }

    @Test(arguments: Pythons.all)
    func `stacks are those that the program says`(_ python: String) throws {
        let live = try LivePython(python, [Self.folder + "/subject.py"])
        let version = try #require(live.line()).split(separator: "\t").compactMap { Int($0) }
        guard 8...14 ~= version[1] else {
            #expect(live.interpreter() == nil)
            return
        }
        var stage = live.stage()
        let interpreter = try #require(live.interpreter(), "\(python)")
        #expect([interpreter.version.major, interpreter.version.minor] == Array(version[..<2]))
        #expect(interpreter.version.micro.map { $0 == version[2] } ?? (version[1] < 11))
        #expect(interpreter.check(live.memory) == true)
        var (reading, stages) = (LiveReading(live, interpreter), 0)
        while let there = stage {
            reading.compare(there)
            stages += 1
            live.goOn()
            stage = live.stage()
        }
        #expect(stages == 42)
    }

    @Test(arguments: Pythons.all)
    func `an interpreter that has ended has no threads`(_ python: String) throws {
        let program = "import os; os.write(1, b'on\\n'); os.read(0, 1)"
        let live = try LivePython(python, ["-c", program])
        #expect(live.line() == "on")
        live.waitUntilAllWait()
        guard let interpreter = live.interpreter() else { return }
        let threads = interpreter.threads(live.memory)
        #expect(threads.count == 1 && threads[0].isMain)
        #expect(threads[0].kernelID.map { $0 == UInt64(live.pid) } ?? true)
        live.goOn()
        while live.line() != nil {}
        #expect(interpreter.threads(live.memory).isEmpty)
        #expect(interpreter.check(live.memory) == nil)
    }
}

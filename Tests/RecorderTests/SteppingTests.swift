import Glibc
import ProfileModel
import TestSupport
import Testing
import Unwind

@testable import Launching
@testable import ProcessIO
@testable import Sampler

/// Unwinds at every single instruction of a program's work, by both engines: prologues, epilogues, the
/// stubs of the linkage table, the dynamic linker's resolver, the vdso, signal handlers, exceptions in
/// flight. What the stack must be is known from the calls and returns that were stepped over.
@Suite(.enabled(if: Tools.has("gcc") && Tools.has("g++"), "needs gcc and g++"))
struct SteppingTests {
    struct Program: CustomTestStringConvertible, Sendable {
        var source: Source
        var options: [String]
        var compiler: String?

        var testDescription: String {
            ([compiler ?? source.compiler] + options).joined(separator: " ")
        }
    }

    private static let subjects = [
        Program(
            source: .subject, options: ["-O2", "-fomit-frame-pointer", "-Wl,-z,lazy"]),
        Program(
            source: .subject, options: ["-O2", "-fcf-protection", "-Wl,-z,lazy,-z,ibtplt"]),
        Program(source: .subject, options: ["-O0", "-Wl,-z,now"]),
        Program(source: .subject, options: ["-O1", "-static", "-no-pie", "-fno-pie"]),
    ]

    private static let shapes = [
        Program(
            source: .shapes, options: ["-O2", "-fstack-clash-protection", "-Wl,-z,lazy"]),
        Program(source: .shapes, options: ["-Os", "-fno-omit-frame-pointer"]),
    ]

    /// The toolchain's own compiler has other habits.
    private static let clangs = [Program(source: .shapes, options: ["-O2"], compiler: "clang++")]

    @Test(arguments: subjects)
    func everyInstruction(program: Program) throws {
        let result = try followed(program)
        #expect(result.steps > 1000)
        #expect(result.truth.calls > 20)
        #expect(result.deepest > 4)
    }

    @Test(arguments: shapes)
    func everyShape(program: Program) throws {
        try expectAllShapes(try followed(program))
    }

    @Test(.enabled(if: Tools.has("clang++"), "needs clang++"), arguments: clangs)
    func everyShapeOfClang(program: Program) throws {
        try expectAllShapes(try followed(program))
    }

    private func expectAllShapes(_ result: SteppedWalks) throws {
        #expect(result.checked > 10_000)
        #expect(result.truth.calls > 500)
        #expect(result.truth.signals == 3)
        #expect(result.deepest > 20)
        // A long jump and an exception: a few instructions each.
        #expect(result.arrivals > 0 && result.arrivals < 50)
        #expect(result.rewritten > 0 && result.rewritten * 100 < result.checked)
        let ends = result.disagreements[.popped, default: 0]
        #expect(ends * 100 < result.checked, "\(ends) of \(result.checked)")
    }

    private func followed(_ program: Program) throws -> SteppedWalks {
        let scratch = try Scratch()
        let path = try scratch.compile(program.source, program.options, by: program.compiler)
        let line = try scratch.printed(by: ["nm", path]).first { $0.hasSuffix(" T done") }
        let end = try #require(line?.split(separator: " ").first.flatMap { UInt64($0, radix: 16) })
        let subject = try Subject(path, "work")
        try #require(subject.waitUntilReading())
        let result = try #require(
            onTracerThread { SteppedWalks(of: subject, until: end, limit: 600_000) })
        #expect(result.reachedEnd)
        let failures = result.failures.sorted { $0.key < $1.key }.map(\.value.message)
        #expect(failures.isEmpty, "\(failures.prefix(8).joined(separator: "\n"))")
        let others = result.unexplained
        #expect(others.isEmpty, "libunwind: \(others.prefix(8).joined(separator: "\n"))")
        return result
    }
}

import Glibc
import ProfileModel
import Symbolicate
import TestSupport
import Testing

/// Compiled programs against what binutils say of them.
struct SourceTests {
    private static let shapes = """
        namespace space {
        volatile int sink;
        inline __attribute__((always_inline)) int twice(int value) {
            sink = value;
            return value * 2;
        }
        struct Shape {
            int side;
            __attribute__((always_inline)) int area() const {
                int grown = twice(side) + 1;
                sink = grown;
                return grown * side;
            }
        };
        __attribute__((noinline)) int measure(int count) {
            int sum = 0;
            for (int i = 0; i < count; i++) {
                Shape shape{i};
                sum += shape.area();
                sink = sum;
            }
            return sum;
        }
        namespace {
        inline __attribute__((always_inline)) int hidden(int value) {
            sink = value + 1;
            return value;
        }
        }
        __attribute__((noinline)) int visible(int value) {
            sink = 3;
            return hidden(value) + 1;
        }
        }
        int main(int count, char **) {
            return space::measure(count) + space::visible(count);
        }
        """

    private static let measure = "_ZN5space7measureEi"

    @Test(
        .enabled(if: Tools.has("g++", "addr2line", "nm"), "needs g++ and binutils"),
        arguments: ["-gdwarf-5", "-gdwarf-4"])
    func everyAddressAgreesWithAddr2line(format: String) throws {
        let folder = try Scratch()
        let program = try folder.compile(Self.shapes, with: "g++", as: "shapes", "-O2", format)
        let symbols = try folder.symbols(of: program)
        let resolver = ModuleResolver(Module(path: program), search: .none)
        #expect(
            resolver.summary
                == ModuleSymbols(
                    debugInfoPath: program, debugInfoOrigin: .module, symbolOrigin: .complete))
        var inlined = 0
        for name in [Self.measure, "main"] {
            let range = try #require(symbols[name])
            let expected = try oracle(program, range, folder)
            for (address, lines) in zip(range, expected) {
                let frames = resolver.frames(at: address)
                inlined += frames.count - 1
                #expect(Self.described(frames) == lines, "at \(String(address, radix: 16))")
            }
        }
        #expect(inlined > 20)
    }

    /// Outermost first: `function file:line`, as binutils demangle and without discriminators.
    private func oracle(
        _ program: String, _ range: Range<UInt64>, _ folder: Scratch
    ) throws -> [[String]] {
        let addresses = range.map { String($0, radix: 16) }
        let lines = try folder.printed(by: ["addr2line", "-afiCe", program] + addresses)
        var result: [[String]] = []
        var position = 0
        while position < lines.count {
            if lines[position].hasPrefix("0x") {
                result.append([])
                position += 1
            } else {
                let place = lines[position + 1].split(separator: " ").first ?? ""
                result[result.count - 1].insert("\(lines[position]) \(place)", at: 0)
                position += 2
            }
        }
        return result
    }

    private static func described(_ frames: [SourceFrame]) -> [String] {
        frames.map { frame in
            let line = frame.line.map(String.init) ?? "?"
            return "\(frame.function ?? "??") \(frame.file ?? "??"):\(line)"
        }
    }

    @Test(.enabled(if: Tools.has("g++", "nm"), "needs g++ and binutils"))
    func inlinedFramesAreOutermostFirst() throws {
        let folder = try Scratch()
        let program = try folder.compile(Self.shapes, with: "g++", as: "shapes", "-O2", "-g")
        let range = try #require(try folder.symbols(of: program)[Self.measure])
        let resolver = ModuleResolver(Module(path: program), search: .none)
        let stacks = range.map { resolver.frames(at: $0) }
        let deepest = try #require(stacks.first { $0.count == 3 })
        let source = folder.path("shapes.cpp")
        #expect(
            deepest[0]
                == SourceFrame(
                    function: "space::measure(int)", file: source, line: 19, isInlined: false,
                    linkageName: Self.measure))
        #expect(
            deepest[1]
                == SourceFrame(
                    function: "space::Shape::area() const", file: source, line: 10, isInlined: true,
                    linkageName: "_ZNK5space5Shape4areaEv")
        )
        #expect(deepest[2].function == "space::twice(int)")
        #expect(deepest[2].isInlined)
        #expect([4, 5].contains(deepest[2].line))
    }

    @Test(.enabled(if: Tools.has("g++", "nm"), "needs g++ and binutils"))
    func functionsWithoutLinkageNameAreQualifiedByTheirPlace() throws {
        let folder = try Scratch()
        let program = try folder.compile(Self.shapes, with: "g++", as: "shapes", "-O2", "-g")
        let range = try #require(try folder.symbols(of: program)["_ZN5space7visibleEi"])
        let resolver = ModuleResolver(Module(path: program), search: .none)
        let names = Set(range.flatMap { resolver.frames(at: $0) }.compactMap(\.function))
        #expect(names.contains("space::(anonymous namespace)::hidden"))
    }

    @Test(.enabled(if: Tools.has("gcc", "nm"), "needs gcc and binutils"))
    func partsThatTheCompilerMovedAwayKeepTheirFunction() throws {
        let folder = try Scratch()
        let program = try folder.compile(
            """
            #include <stdlib.h>
            volatile int sink;
            __attribute__((cold, noinline)) void complain(int value) { sink = value; }
            __attribute__((noinline)) int check(int value) {
                if (__builtin_expect(value > 100, 0)) {
                    complain(value); complain(value + 1); complain(value + 2); abort();
                }
                return value * 3;
            }
            int main(int count, char **words) { return check(count); }
            """, with: "gcc", as: "cold", "-O2", "-g")
        let range = try #require(try folder.symbols(of: program)["check.cold"])
        let frames = ModuleResolver(Module(path: program)).frames(at: range.lowerBound)
        #expect(frames.map(\.function) == ["check [clone .cold]"])
        #expect((4...9).contains(frames[0].line ?? 0))
    }

    @Test(.enabled(if: Tools.has("gcc", "nm"), "needs gcc and binutils"))
    func withoutDebugInfoThereIsOneFrame() throws {
        let folder = try Scratch()
        let program = try folder.compile(Self.shapes, with: "g++", as: "plain", "-O2")
        let range = try #require(try folder.symbols(of: program)[Self.measure])
        let resolver = ModuleResolver(Module(path: program), search: .none)
        let expected = SourceFrame(
            function: "space::measure(int)", file: nil, line: nil, isInlined: false,
            linkageName: Self.measure)
        #expect(range.allSatisfy { resolver.frames(at: $0) == [expected] })
        #expect(resolver.summary == ModuleSymbols(symbolOrigin: .complete))
    }
}

import Foundation
import ProfileModel
import Symbolicate
import TestSupport
import Testing

/// Functions that the linker has dropped keep their DWARF, at addresses of nothing or of other
/// code: at 0, 1, or the highest ones.
struct DroppedCodeTests {
    private static let deadLines = 800

    /// The dropped code has many short lines, each with an inlined call; the kept code has few long
    /// ones.
    private static let source: String = {
        var lines = [
            "volatile long sink;",
            "static inline __attribute__((always_inline)) long mix(long x) { return x * sink + sink; }",
            "long dead(long x) {",
        ]
        lines += (0..<deadLines).map { "    sink += mix(x ^ \($0));" }
        lines += [
            "    return x;", "}",
            "__attribute__((noinline)) long live(long n) {", "    long s = 0;",
            "    for (long i = 0; i < n; i++)",
            #"        __asm__ volatile(".rept 2000\n imul $3, %0\n .endr" : "+r"(s));"#,
            "    return s;", "}", "int main(int argc, char **argv) { return live(argc) == 7; }",
        ]
        return lines.joined(separator: "\n") + "\n"
    }()

    @Test(
        .enabled(if: Tools.has("gcc", "ld.gold", "nm"), "needs gcc and binutils"),
        arguments: ["bfd", "gold", "lld"], ["gcc -gdwarf-4", "gcc -gdwarf-5", "clang -gdwarf-5"])
    func linesAreOfTheCodeThatIsThere(linker: String, compiler: String) throws {
        let words = compiler.split(separator: " ").map(String.init)
        // Swift's toolchain brings lld, which compilers find in the path, and clang.
        guard linker != "lld" || Tools.has("ld.lld"), Tools.has(words[0]) else { return }
        let folder = try Scratch()
        let path = try folder.compile(
            Self.source, with: words[0], as: "subject", words[1], "-O1", "-ffunction-sections",
            "-fuse-ld=\(linker)", "-Wl,--gc-sections")
        let addresses = try Array(#require(folder.symbols(of: path)["live"]))
        // 2,000 multiplications of four bytes.
        #expect(addresses.count > 8000)
        let resolver = ModuleResolver(Module(path: path), search: .none)
        let found = zip(addresses, resolver.frames(at: addresses))
        let lines = Self.deadLines + 6...Self.deadLines + 11
        let wrong = found.filter { _, frames in
            frames.count != 1 || frames[0].function != "live"
                || !(frames[0].line.map { lines.contains(Int($0)) } ?? true)
        }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(3))")
        // clang gives the line 0 to some instructions of its own.
        #expect(found.count { $1.first?.line == nil } * 100 < addresses.count)
    }
}

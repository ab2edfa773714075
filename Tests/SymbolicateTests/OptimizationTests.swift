import ProfileModel
import TestSupport
import Testing

@testable import Symbolicate

/// Whether a unit was optimised, as far as its compiler records it.
struct OptimizationTests {
    @Test(
        arguments: [
            ("GNU C17 12.2.0 -mtune=generic -march=x86-64 -g", true),
            ("GNU C17 12.2.0 -mtune=generic -march=x86-64 -g -O0", true),
            ("GNU C17 12.2.0 -O2 -mtune=generic -O0 -g", true),
            ("GNU C17 12.2.0 -mtune=generic -march=x86-64 -g -O2", false),
            ("GNU C++17 12.2.0 -O0 -O3", false), ("GNU C17 12.2.0 -g -O", false),
            ("GNU C17 12.2.0 -g -Og", false), ("GNU C17 12.2.0 -Os", false),
            ("GNU Fortran2008 12.2.0 -Ofast", false), ("GNU GIMPLE 12.2.0 -fltrans -O2", false),
            // The options may have been left out; assembler is written by hand.
            ("GNU C17 12.2.0", false), ("GNU AS 2.40", false), ("GNU AS 2.40 -g", false),
            ("Go cmd/compile go1.19.8; -N -l; regabi", true),
            ("Go cmd/compile go1.19.8; regabi", false),
            ("Debian clang version 14.0.6", false), ("clang LLVM (rustc version 1.83.0)", false),
            ("", false), (" ", false), ("GNU", false),
            (String(repeating: "-O0 ", count: 5000), false),
        ])
    func producers(text: String, isUnoptimized: Bool) {
        #expect(ProducerText(text).isUnoptimized == isUnoptimized)
    }

    @Test func swiftMarksWhatIsOptimised() {
        let text = "Swift version 6.3.1 (swift-6.3.1-RELEASE)"
        #expect(ProducerText(text).isUnoptimized)
        #expect(!ProducerText(text, isMarkedOptimized: true).isUnoptimized)
    }

    @Test(
        .enabled(if: Tools.has("gcc", "nm"), "needs gcc and binutils"),
        arguments: [("-O0", true), ("-fPIC", true), ("-O2", false), ("-Og", false)])
    func compiledPrograms(option: String, isUnoptimized: Bool) throws {
        let folder = try Scratch()
        let program = try folder.compile(
            "int main(void) { return 0; }", with: "gcc", as: "program", "-g", option)
        let address = try #require(try folder.address(of: "main", in: program))
        let resolver = ModuleResolver(Module(path: program), search: .none)
        #expect(resolver.frames(at: address).map(\.isUnoptimized) == [isUnoptimized])
    }
}

import ELF
import GoTables
import ProfileModel
import TestSupport
import Testing

@testable import Unwind

/// Compares rules from Go's own table with those from `.debug_frame` of the unstripped program.
@Suite(.enabled(if: isThere("go"), "needs Go"))
struct GoRuleTests {
    private static let source = """
        package main

        import ("fmt"; "sort")

        func main() {
        	values := []int{3, 1, 2}
        	sort.Ints(values)
        	fmt.Println(values)
        }
        """

    private func build(_ scratch: Scratch, _ name: String, _ options: String...) throws -> ELFFile {
        try scratch.write(Self.source, to: "main.go")
        try scratch.run(
            ["env", "CGO_ENABLED=0", "GO111MODULE=off", "go", "build", "-o", scratch.path(name)]
                + options + [scratch.path("main.go")])
        return try ELFFile(path: scratch.path(name), access: .read)
    }

    @Test func framesAreThoseOfTheDebugInformation() throws {
        let scratch = try Scratch()
        let full = FrameTables(try build(scratch, "full"))
        let file = try build(scratch, "stripped", "-ldflags=-s -w")
        let stripped = FrameTables(file)
        let table = try #require(GoFunctionTable(in: file))
        #expect(table.count > 1000)
        var (seen, different) = (0, [String]())
        for index in 0..<table.count {
            let function = try #require(table.function(index))
            let length = function.end - function.start
            for address in [
                function.start, function.start + length / 3, function.start + length / 2,
            ] {
                let rule = stripped.rule(at: address)
                guard let known = full.ruleOfLibrary(at: address), known.kind == .fromStackPointer,
                    rule.kind != .end, rule.kind != .signalReturn
                else { continue }
                seen += 1
                if rule.kind != .fromStackPointer || rule.cfaOffset != known.cfaOffset {
                    let name = table.name(of: function) ?? "?"
                    different.append("\(name)+\(address - function.start): \(rule) \(known)")
                }
            }
        }
        #expect(seen > 2000)
        #expect(
            different.count * 500 <= seen, "\(different.count) of \(seen): \(different.prefix(5))")
        // The functions at which stacks begin are known by name.
        let ends = (0..<table.count).compactMap(table.function).filter {
            stripped.rule(at: $0.start).kind == .end
        }
        #expect(
            Set(ends.compactMap(table.name)).isSuperset(of: ["runtime.goexit", "runtime.mstart"]))
    }
}

private func isThere(_ tool: String) -> Bool {
    (try? Scratch().run(["sh", "-c", "command -v \(tool)"])) != nil
}

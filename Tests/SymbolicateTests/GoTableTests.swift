import Glibc
import ProfileModel
import Symbolicate
import TestSupport
import Testing

/// `.gopclntab`: the facts about functions that a stripped Go program still has.
@Suite(.enabled(if: Tools.has("go", "nm", "sh"), "needs Go and binutils"))
struct GoTableTests {
    private static let source = """
        package main

        import (
        	"encoding/json"
        	"fmt"
        	"sort"
        )

        type item struct {
        	Name   string
        	Values []int
        }

        func main() {
        	made := item{"x", []int{3, 1, 2}}
        	sort.Ints(made.Values)
        	text, _ := json.Marshal(made)
        	fmt.Println(string(text))
        }
        """

    private struct Built {
        let folder: Scratch
        let full: String
        let stripped: String
    }

    private func build(_ mode: String = "exe") throws -> Built {
        let folder = try Scratch()
        try folder.write(Array(Self.source.utf8), to: "main.go")
        let go = ["env", "CGO_ENABLED=0", "GO111MODULE=off", "go", "build", "-buildmode=" + mode]
        try folder.run(go + ["-o", "full", "main.go"])
        try folder.run(go + ["-ldflags=-s -w", "-o", "stripped", "main.go"])
        return Built(folder: folder, full: folder.path("full"), stripped: folder.path("stripped"))
    }

    /// By Go's own tool, which reads the program that was not stripped.
    @Test func namesAndLinesAreThoseOfGo() throws {
        let built = try build()
        let functions = try built.folder.symbols(of: built.full)
            .filter { $0.value.lowerBound > 0x1000 && $0.value.count > 1 }
            .map(\.value).sorted { $0.lowerBound < $1.lowerBound }
        let addresses = functions.flatMap { [$0.lowerBound, $0.lowerBound + UInt64($0.count) / 2] }
        #expect(addresses.count > 2000)
        let asked = addresses.map { "0x" + String($0, radix: 16) + "\n" }.joined()
        try built.folder.write(Array(asked.utf8), to: "asked")
        let answers = try built.folder.printed(by: [
            "sh", "-c", "go tool addr2line \(built.full) < asked",
        ])
        let resolver = ModuleResolver(Module(path: built.stripped), search: .none)
        #expect(resolver.summary == ModuleSymbols(symbolOrigin: .goTable))
        var (seen, wrong) = (0, [String]())
        for (index, address) in addresses.enumerated() where answers.indices ~= 2 * index + 1 {
            let (name, place) = (answers[2 * index], answers[2 * index + 1])
            // Data, and other addresses without a function.
            guard name != "?", !place.hasPrefix("?") else { continue }
            seen += 1
            let frame = try #require(resolver.frames(at: address).first)
            // Assembly functions carry the suffix of their calling convention in symbols.
            let names = [name, name.hasSuffix(".abi0") ? name.dropLast(5) : name].map(String.init)
            let found = "\(frame.file ?? "?"):\(frame.line ?? 0)"
            if !names.contains(frame.function ?? "") || frame.line != nil && found != place {
                wrong.append("\(name) \(place): \(frame.function ?? "?") \(found)")
            }
        }
        #expect(seen > 1500)
        #expect(wrong.count * 1000 <= seen, "\(wrong.count) of \(seen): \(wrong.prefix(5))")
    }

    /// Its addresses are in relocations, which the table itself does not have. (Go's tool gives
    /// nothing for such a program.)
    @Test func aProgramThatMayLieAnywhere() throws {
        let built = try build("pie")
        let resolver = ModuleResolver(Module(path: built.stripped), search: .none)
        #expect(resolver.summary.symbolOrigin == .goTable)
        var (seen, wrong) = (0, [String]())
        for (name, range) in try built.folder.symbols(of: built.full)
        where name.hasPrefix("encoding/json.(*") {
            seen += 1
            let found = resolver.frames(at: range.lowerBound).first?.function
            if found != name { wrong.append("\(name): \(found ?? "?")") }
        }
        #expect(seen > 20 && wrong.isEmpty, "\(seen), \(wrong.prefix(5))")
    }

    /// Where there are symbols, they go before.
    @Test func symbolsGoBefore() throws {
        let built = try build()
        let resolver = ModuleResolver(Module(path: built.full), search: .none)
        #expect(resolver.summary.symbolOrigin == .complete)
    }

    /// For any contents of the table: no answer, or some.
    @Test(arguments: 0..<40) func damaged(seed: UInt64) throws {
        struct Once { static let built = Result { try GoTableTests().build() } }
        let built = try Once.built.get()
        var bytes = try built.folder.read("stripped")
        let magics: [[UInt8]] = [
            [0xF0, 0xFF, 0xFF, 0xFF, 0, 0, 1, 8], [0xF1, 0xFF, 0xFF, 0xFF, 0, 0, 1, 8],
        ]
        let start = try #require(
            bytes.indices.dropLast(8).first { index in
                bytes[index + 7] == 8 && magics.contains { bytes[index...].starts(with: $0) }
            })
        var generator = SeededNumbers(seed: seed)
        // Its header is where most can go wrong.
        for _ in 0..<Int.random(in: 1...30, using: &generator) {
            let range = Bool.random(using: &generator) ? 72 : min(400_000, bytes.count - start)
            bytes[start + Int.random(in: 0..<range, using: &generator)] =
                UInt8.random(in: .min ... .max, using: &generator)
        }
        let folder = try Scratch()
        try folder.write(bytes, to: "bad")
        let resolver = ModuleResolver(Module(path: folder.path("bad")), search: .none)
        for _ in 0..<300 {
            let address = UInt64.random(in: 0x40_1000...0x50_0000, using: &generator)
            #expect(resolver.frames(at: address).count == 1)
        }
    }
}

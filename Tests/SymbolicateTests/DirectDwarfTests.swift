import Foundation
import Glibc
import ProfileModel
import Symbolicate
import TestSupport
import Testing

/// Our own reading of DWARF against libdw's.
struct DirectDwarfTests {
    private static let source = """
        #include <algorithm>
        #include <map>
        #include <string>
        #include <vector>
        namespace {
        volatile int sink;
        struct Item {
            int value;
            std::string name;
            bool operator<(const Item &other) const { return value < other.value; }
        };
        template <typename T>
        inline T largest(const std::vector<T> &all) {
            return *std::max_element(all.begin(), all.end());
        }
        __attribute__((noinline)) int local(int count) {
            struct Counter {
                int total = 0;
                __attribute__((noinline)) void add(int more) { sink = total += more; }
            } counter;
            for (int i = 0; i < count; i++) counter.add(i);
            return counter.total;
        }
        }
        int main(int count, char **words) {
            std::map<std::string, std::vector<Item>> items;
            for (int i = 0; i < count; i++) items[words[i]].push_back({i, words[i]});
            int sum = 0;
            auto add = [&](const auto &pair) { sum += largest(pair.second).value; };
            std::for_each(items.begin(), items.end(), add);
            try {
                sink = sum + local(count);
                if (count > 1000) throw sum;
            } catch (int number) {
                return number;
            }
            return sum;
        }
        """

    /// - Parameters:
    ///   - count: how many addresses, spread over the code; at most all of them.
    ///   - lines: of how many frames, at least, the line is known.
    private func expectAgreement(
        _ path: String, count: UInt64 = 20_000, lines: Int = 100
    ) throws {
        let resolver = ModuleResolver(Module(path: path), search: .none)
        let code = try #require(ModuleCodeRange(path).range)
        let step = max(1, (code.upperBound - code.lowerBound) / count)
        let addresses = Array(stride(from: code.lowerBound, to: code.upperBound, by: Int(step)))
        let found = resolver.frames(at: addresses)
        var known = 0
        for (address, frames) in zip(addresses, found) {
            known += frames.count { $0.line != nil }
            let expected = resolver.framesByLibdw(at: address)
            let comparable = Self.comparable(frames, to: expected)
            #expect(comparable == expected, "\(path) at \(String(address, radix: 16))")
            if comparable != expected { break }
        }
        #expect(known > lines)
    }

    /// What libdw names is known by how that reads, which two functions of Swift's may share: then the
    /// linker's name is not told.
    private static func comparable(
        _ frames: [SourceFrame], to expected: [SourceFrame]
    ) -> [SourceFrame] {
        frames.enumerated().map { index, frame in
            var frame = frame
            if expected.indices.contains(index), expected[index].linkageName == nil {
                frame.linkageName = nil
            }
            return frame
        }
    }

    @Test(
        .enabled(if: Tools.has("g++", "readelf"), "needs g++ and binutils"),
        arguments: [
            ["-gdwarf-5", "-O2"], ["-gdwarf-4", "-O2"], ["-gdwarf-3", "-O1"], ["-gdwarf-2", "-O2"],
            ["-gdwarf-5", "-O0"], ["-g", "-gz", "-O2"], ["-g", "-O2", "-fdebug-types-section"],
            ["-g", "-O2", "-ffunction-sections"], ["-g", "-O2", "-flto"],
            ["-g", "-O2", "-gdwarf64"], ["-gdwarf-4", "-O2", "-gdwarf64"],
        ])
    func agreesWithLibdw(options: [String]) throws {
        let folder = try Scratch()
        let source = try folder.write(Self.source, to: "subject.cpp")
        try folder.run(["g++", source, "-o", "subject"] + options)
        try expectAgreement(folder.path("subject"))
    }

    @Test(
        .enabled(if: Tools.has("clang++", "readelf"), "needs clang and binutils"),
        arguments: [["-gdwarf-5", "-O2"], ["-gdwarf-4", "-O2"], ["-gdwarf-5", "-O0"]])
    func agreesOnClangs(options: [String]) throws {
        let folder = try Scratch()
        let source = try folder.write(Self.source, to: "subject.cpp")
        try folder.run(["clang++", source, "-o", "subject"] + options)
        try expectAgreement(folder.path("subject"))
    }

    /// Functions in a `.dwo` file.
    @Test(
        .enabled(if: Tools.has("g++", "clang++", "readelf"), "needs g++, clang and binutils"),
        arguments: [
            ["g++", "-O2", "-gdwarf-5"], ["g++", "-O2", "-gdwarf-4"],
            ["g++", "-O2", "-gdwarf-5", "-gdwarf64"],
            ["g++", "-gdwarf-5", "-O1", "-fdebug-types-section"], ["g++", "-gdwarf-5", "-flto"],
            ["clang++", "-gdwarf-5", "-O2"], ["clang++", "-gdwarf-4", "-O2"],
            ["clang++", "-gdwarf-5", "-O2", "-fsplit-dwarf-inlining"],
        ])
    func agreesOnSplitDebugInformation(command: [String]) throws {
        let folder = try Scratch()
        try folder.write(Self.source, to: "subject.cpp")
        try folder.run(command + ["-g", "-gsplit-dwarf", "-c", "subject.cpp"])
        try folder.run(command + ["subject.o", "-o", "subject"])
        try expectAgreement(folder.path("subject"))
    }

    /// A module of Firstlight: tests themselves are built without debug information.
    @Test(.enabled(if: Tools.has("swiftc", "readelf"), "needs swiftc and binutils"))
    func agreesOnAProgramOfSwift() throws {
        let top = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let module = top.appending(path: "Sources/Architecture").path
        let sources = try FileManager.default.contentsOfDirectory(atPath: module)
            .filter { $0.hasSuffix(".swift") }.sorted().map { "\(module)/\($0)" }
        let folder = try Scratch()
        try folder.run(
            [
                "swiftc", "-O", "-g", "-parse-as-library", "-emit-library", "-package-name",
                "subject",
            ]
                + ["-module-name", "Subject", "-o", "subject.so"] + sources)
        try expectAgreement(folder.path("subject.so"), count: 2_000, lines: 500)
    }
}

/// Where `.text` is.
private struct ModuleCodeRange {
    let range: Range<UInt64>?

    init(_ path: String) throws {
        let folder = try Scratch()
        let line = try folder.printed(by: ["readelf", "-SW", path]).first { $0.contains(" .text ") }
        let words = line?.split(separator: "]").last?.split(separator: " ") ?? []
        guard words.count > 4, let start = UInt64(words[2], radix: 16),
            let size = UInt64(words[4], radix: 16)
        else {
            range = nil
            return
        }
        range = start..<(start + size)
    }
}

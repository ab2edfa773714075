import Glibc
import ProfileModel
import Symbolicate
import Testing

@testable import Marks

/// A plan made beforehand is the same as one made from memory: tried with this process's C library.
@Suite struct PreparedFileTests {
    private let path: String
    private let bias: UInt64

    private static let requests = [
        "qsort", "getenv", "strtol", "fopen", "memcpy", "no_such_function",
    ].flatMap { name in
        [false, true].map {
            MarkRequest(name: name, place: .function(name, library: nil, isSpan: $0))
        }
    }

    init() throws {
        let maps = try #require(Self.text(of: "/proc/self/maps"))
        // Other tests have it mapped, too, but only to read it.
        let fields = maps.split(separator: "\n").map { $0.split(separator: " ") }
        let code = try #require(
            fields.first { $0.last?.hasSuffix("/libc.so.6") == true && $0[1] == "r-xp" })
        path = String(code[5])
        let start = try #require(UInt64(code[0].prefix { $0 != "-" }, radix: 16))
        bias = start - (try #require(UInt64(code[2], radix: 16)))
    }

    private static func text(of path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let memory: @Sendable (UInt64, Int) -> [UInt8] = { address, count in
        let file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, pread(file, buffer.baseAddress, count, Int(address)))
        }
    }

    private var image: MarkedImage { MarkedImage(file: path, path: path, bias: bias) }

    @Test func isWhatMemoryWouldSay() throws {
        let prepared = try PreparedFile(path, path: path, Self.requests)
        let plan = try #require(prepared.plan(for: image, read: Self.memory))
        let fresh = ImagePlanner(
            library: "libc.so.6", bias: bias, code: try ModuleCode(path: path, name: path),
            read: Self.memory
        ).plan(Self.requests).finished(movedBy: 0)
        #expect(plan == fresh)
        #expect(!plan.changes.isEmpty)
        #expect(plan.found == Set(0..<10))
        // memcpy is decided on when the program runs.
        #expect(plan.refusals.contains { $0.place.contains("memcpy") && $0.reason == .indirect })
    }

    /// If the code there was changed, none of our planned changes is made.
    @Test func memoryThatSaysSomethingElse() throws {
        let prepared = try PreparedFile(path, path: path, Self.requests)
        let plan = try #require(
            prepared.plan(for: image) { [0xCC] + Self.memory($0, $1).dropFirst() })
        #expect(plan.changes.isEmpty)
        #expect(plan.refusals.contains { $0.reason == .replaced })
        #expect(plan.refusals.allSatisfy { [.replaced, .indirect].contains($0.reason) })
        let nothing = try #require(prepared.plan(for: image) { _, _ in [] })
        #expect(nothing.changes.isEmpty && nothing.found == plan.found)
    }

    /// Under another name it is another library, though it is the same file.
    @Test func namesOfLibraries() throws {
        let request = MarkRequest(
            name: "a", place: .function("qsort", library: "libc.so.6", isSpan: false))
        let planner = PreparedPlanner([request])
        planner.prepare(path, path: "/lib/libother.so")
        #expect(planner.plan(for: image, read: Self.memory)?.found == [0])
        var other = image
        other.path = "/lib/libother.so"
        #expect(planner.plan(for: other, read: Self.memory)?.found == [])
    }

    @Test func theProgramsLibrariesArePreparedWithIt() throws {
        let planner = PreparedPlanner(Self.requests)
        planner.prepare("/proc/self/exe", path: "/tmp/tests")
        #expect(planner.plan(for: image, read: Self.memory)?.found == Set(0..<10))
        #expect(
            planner.plan(for: MarkedImage(file: "/none", path: "/none", bias: 0)) { _, _ in
                []
            } == nil)
        planner.prepare("/etc/passwd", path: "/etc/passwd")
        planner.prepare("/none", path: "/none")
    }

    @Test func needs() throws {
        let needs = try ModuleCode(path: "/proc/self/exe", name: "tests").needs
        #expect(needs.names.contains("libc.so.6"))
        #expect(needs.interpreter?.contains("ld-linux") == true)
    }

    @Test func librariesAreLookedForInOrder() throws {
        var needs = LibraryNeeds()
        needs.names = ["liba.so", "libb.so", "./libc.so", "libnone.so"]
        needs.folders = ["$ORIGIN/../lib", "${ORIGIN}"]
        needs.interpreter = "/lib64/ld.so"
        let there = [
            "/opt/x/bin/../lib/liba.so", "/opt/x/bin/liba.so", "/env/liba.so", "/env/libb.so",
            "/usr/lib/libb.so",
        ]
        let search = LibrarySearch(preferred: "/none:/env") { there.contains($0) }
        #expect(
            search.files(for: needs, of: "/opt/x/bin/program") == [
                "/opt/x/bin/../lib/liba.so", "/env/libb.so", "./libc.so", "/lib64/ld.so",
            ])
        needs.names = []
        needs.interpreter = nil
        #expect(search.files(for: needs, of: "program").isEmpty)
    }
}

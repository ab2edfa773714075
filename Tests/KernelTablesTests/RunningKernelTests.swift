import Foundation
import ProfileModel
import Testing

@testable import KernelTables

/// A made kernel's files.
final class RunningKernelTests {
    private let root: String

    init() throws {
        root = NSTemporaryDirectory() + "firstlight-kernel-\(UUID().uuidString)"
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    private func write(_ path: String, _ bytes: [UInt8]) throws {
        let url = URL(fileURLWithPath: root + path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
    }

    private func note(_ name: String, type: UInt8, _ description: [UInt8]) -> [UInt8] {
        var note: [UInt8] = [
            UInt8(name.utf8.count + 1), 0, 0, 0, UInt8(description.count), 0, 0, 0,
        ]
        note += [type, 0, 0, 0] + Array(name.utf8) + [0]
        while note.count % 4 != 0 { note.append(0) }
        note += description
        while note.count % 4 != 0 { note.append(0) }
        return note
    }

    private func makeKernel(kallsyms: String, notes: [UInt8]) throws {
        try write("/proc/kallsyms", Array(kallsyms.utf8))
        try write("/sys/kernel/notes", notes)
        let modules = """
            nbd 4096 0 - Live 0xffffffffc0001000 (E)
            loop 65536 2 - Live 0xffffffffc0000000
            hidden 4096 0 - Live 0x0000000000000000
            damaged
            huge 18446744073709551615 0 - Live 0xffffffffc0002000
            ../../escape 4096 0 - Live 0xffffffffc0003000

            """
        try write("/proc/modules", Array(modules.utf8))
        try write(
            "/sys/module/loop/notes/.note.gnu.build-id", note("GNU", type: 3, [7, 8, 9]))
    }

    private let list = "ffffffff81000000 T _text\nffffffff81000400 T _etext\n"

    @Test func `kernel and modules lie beside each other`() throws {
        try makeKernel(
            kallsyms: list,
            notes: note("Linux", type: 3, [1]) + note("GNU", type: 4, [2])
                + note("GNU", type: 3, [3, 4, 5, 6, 7]) + note("Xen", type: 3, [8]))
        let kernel = try #require(RunningKernel(root: root))
        #expect(kernel.buildID == [3, 4, 5, 6, 7])
        let code = kernel.code
        #expect(code.map(\.path) == ["[kernel]", "[kernel:loop]", "[kernel:nbd]"])
        #expect(
            code.map(\.start) == [
                0xffff_ffff_8100_0000, 0xffff_ffff_c000_0000, 0xffff_ffff_c000_1000,
            ])
        #expect(
            code.map(\.end) == [
                0xffff_ffff_c000_0000, 0xffff_ffff_c000_1000, 0xffff_ffff_c000_2000,
            ])
        #expect(code.map(\.buildID) == [[3, 4, 5, 6, 7], [7, 8, 9], []])
        #expect(code.allSatisfy { $0.isKernel && $0.fileOffset == 0 })
    }

    @Test func `only what is the same has its addresses here`() throws {
        try makeKernel(kallsyms: list, notes: note("GNU", type: 3, [3, 4]))
        let kernel = try #require(RunningKernel(root: root))
        func start(_ path: String, _ buildID: [UInt8]) -> UInt64? {
            kernel.start(of: Module(path: path, buildID: buildID))
        }
        #expect(start("[kernel]", [3, 4]) == 0xffff_ffff_8100_0000)
        #expect(start("[kernel]", [3, 5]) == nil)
        #expect(start("[kernel]", []) == nil)
        #expect(start("[kernel:loop]", [7, 8, 9]) == 0xffff_ffff_c000_0000)
        #expect(start("[kernel:loop]", [7, 8]) == nil)
        #expect(start("[kernel:nbd]", []) == nil)
        #expect(start("[kernel:nbd]", [7, 8, 9]) == nil)
    }

    @Test func `a kernel that hides its addresses is none`() throws {
        try makeKernel(kallsyms: "0000000000000000 T _text\n", notes: [])
        #expect(RunningKernel(root: root) == nil)
        #expect(RunningKernel(root: root + "/nothing") == nil)
    }

    @Test func `damaged notes have no build id`() throws {
        let whole = note("Linux", type: 1, [1, 2, 3]) + note("GNU", type: 3, [3, 4, 5, 6])
        for length in 0..<whole.count {
            try makeKernel(kallsyms: list, notes: Array(whole.prefix(length)))
            #expect(RunningKernel(root: root)?.buildID == [])
        }
        try makeKernel(kallsyms: list, notes: [UInt8](repeating: 0xff, count: 64))
        #expect(RunningKernel(root: root)?.buildID == [])
    }
}

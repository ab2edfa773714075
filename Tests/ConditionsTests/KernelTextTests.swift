import TestSupport
import Testing

@testable import Conditions

/// What the kernel and files say.
@Suite struct KernelTextTests {
    private let mounts = """
        27 1 254:0 / / rw - ext4 /dev/vda rw
        38 31 0:35 / /sys/fs/cgroup/blk\\040io rw,relatime shared:9 - cgroup cgroup rw,blkio
        35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
        42 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
        short line
        """

    @Test func bothKindsOfControlGroups() {
        let trees = ControlGroupTree.find(
            mounts: mounts, groups: "7:blkio,x:/a/b\n8:pids:/\n0::/user.slice/u\n")
        #expect(trees.map(\.version) == [.one, .two])
        #expect(trees[0].own == "/sys/fs/cgroup/blk io/a/b")
        #expect(
            trees[0].candidates == [
                "/sys/fs/cgroup/blk io/a/b", "/sys/fs/cgroup/blk io/a", "/sys/fs/cgroup/blk io",
            ])
        #expect(trees[1].own == "/sys/fs/cgroup/unified/user.slice/u")
    }

    @Test func aPartOfAHierarchyIsMountedInContainers() {
        let trees = ControlGroupTree.find(
            mounts: "30 29 0:26 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup rw",
            groups: "0::/docker/1/x")
        #expect(trees.map(\.own) == ["/sys/fs/cgroup/x"])
        #expect(ControlGroupTree.find(mounts: mounts, groups: "").isEmpty)
        let root = ControlGroupTree.find(
            mounts: "30 29 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw", groups: "0::/")
        #expect(root.map(\.candidates) == [["/sys/fs/cgroup"]])
    }

    @Test func processesMayHaveAnyName() {
        let line = "42 (a) R (b)) S 7 42 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 99"
        let process = ProcessEntry(Array(line.utf8))
        #expect(process?.pid == 42)
        #expect(process?.name == "a) R (b)")
        #expect(process?.parent == 7)
        #expect(process?.session == 9)
        #expect(process?.start == 12345)
        #expect(process?.isZombie == false)
        // Its first thread has ended, and two others go on; then all have.
        let threads = { (count: Int) in
            ProcessEntry(
                Array("42 (x) Z 7 42 9 0 -1 4 1 2 3 4 5 6 7 8 20 0 \(count) 0 12345 99".utf8))
        }
        #expect(threads(3)?.isZombie == false)
        #expect(threads(1)?.isZombie == true)
        for text in ["", "42", "42 (x", "42 (x) S 1", "x (y) S 1 2 3", ")("] {
            #expect(ProcessEntry(Array(text.utf8)) == nil)
        }
    }

    @Test func descendantsAreFoundWhateverTheirOrder() throws {
        func process(_ pid: Int32, _ parent: Int32) throws -> ProcessEntry {
            let line = "\(pid) (x) S \(parent) 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 5"
            return try #require(ProcessEntry(Array(line.utf8)))
        }
        // The last two are a loop, as ids that were used again can make it seem.
        let all = try [(5, 4), (2, 1), (4, 2), (3, 1), (6, 3), (7, 9), (9, 7)].map(process)
        let found = { (kept: Set<Int32>) in
            ProcessEntry.descendants(of: 1, among: all, except: kept).map(\.pid).sorted()
        }
        #expect(found([]) == [2, 3, 4, 5, 6])
        #expect(found([2]) == [3, 6])
        #expect(ProcessEntry.descendants(of: 7, among: all).map(\.pid) == [9])
    }

    @Test func namesCannotForgeLines() {
        let left = LeftBehind(pid: 3, name: "a\u{1B}[31m\nb", isDaemon: true, end: .killed)
        #expect(left.description == "daemon a[31mb (3) was killed")
    }

    // MARK: What runs a program

    @Test func scriptsNameTheirInterpreter() {
        #expect(FirstFiles.scriptInterpreter(in: Array("#! /bin/sh -e\nx".utf8)) == "/bin/sh")
        #expect(
            FirstFiles.scriptInterpreter(in: Array("#!/usr/bin/env\tpython3".utf8))
                == "/usr/bin/env")
        #expect(FirstFiles.scriptInterpreter(in: Array("#! \n".utf8)) == nil)
        #expect(FirstFiles.scriptInterpreter(in: []) == nil)
    }

    @Test func programsNameTheirLinker() {
        let files = FirstFiles.of(program: "/bin/sh")
        #expect(files.count == 2)
        #expect(files.last?.contains("ld-linux") == true)
    }

    // MARK: rtnetlink

    @Test func messagesHaveTheirLengthAndPadding() {
        var message = NetlinkMessage(type: 16, flags: 0x600)
        message.append(UInt32(7))
        message.attribute(3, "abc")
        message.nested(18) { $0.attribute(1, "veth") }
        #expect(message.bytes.count == 16 + 4 + 8 + 4 + 12)
        #expect(message.bytes[0] == 44 && message.bytes[1] == 0)
        #expect(Array(message.bytes[4..<8]) == [16, 0, 5, 6])
        #expect(Array(message.bytes[20..<28]) == [8, 0, 3, 0, 97, 98, 99, 0])
        #expect(Array(message.bytes[28..<32]) == [16, 0, 18, 0])
        #expect(Array(message.bytes[32..<34]) == [9, 0])
    }

    @Test func answers() {
        func answer(_ code: Int32, flags: UInt16 = 0x100, _ rest: [UInt8] = []) -> NetlinkAnswer {
            var bytes: [UInt8] = [UInt8(36 + rest.count), 0, 0, 0, 2, 0]
            bytes += [UInt8(flags & 0xFF), UInt8(flags >> 8)] + [1, 0, 0, 0, 0, 0, 0, 0]
            bytes += (0..<4).map { UInt8(truncatingIfNeeded: code >> (8 * $0)) }
            return NetlinkAnswer(bytes + [UInt8](repeating: 0, count: 16) + rest)
        }
        #expect(answer(0) == .done)
        #expect(answer(-2) == .refused(code: 2, words: ""))
        #expect(
            answer(-2, flags: 0x300, [6, 0, 1, 0, 72, 105, 0, 0]) == .refused(code: 2, words: "Hi"))
        #expect(NetlinkAnswer([]) == .other)
        var numbers = SeededNumbers(seed: 9)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...64, using: &numbers)).map { index in
                index == 4 ? 2 : UInt8.random(in: 0...80, using: &numbers)
            }
            _ = NetlinkAnswer(bytes)
        }
    }

    @Test func theKernelTextOfADirection() {
        #expect(Shaping.discipline(for: .init()) == nil)
        #expect(Shaping.discipline(for: .init(rate: 1000)) == "tbf")
        #expect(Shaping.discipline(for: .init(rate: 1000, delay: 1)) == "netem")
        #expect(Shaping.discipline(for: .init(loss: 0.1)) == "netem")
        #expect(Shaping.deviceRate(8_000_000) == 1_009_333)
        // The largest figures overflow nothing.
        let most = LinkProfile.Direction(rate: 100_000_000_000, delay: 60_000, loss: 1)
        #expect(Shaping.message(for: most, index: 1) != nil)
        #expect(Shaping.message(for: .init(rate: 100_000_000_000), index: 1) != nil)
    }
}

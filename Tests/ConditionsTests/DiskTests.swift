import Glibc
import ProfileModel
import Testing

@testable import Conditions
@testable import ProcessIO

extension LaunchedTests {
    /// Programs that read from a slow disk.
    @Suite struct DiskTests {
        /// What the program itself measures: bytes a second, of a file that is not cached. The
        /// nearest of three, for other tests run beside; without a limit they are all far too many.
        @Test(.enabled(if: isRoot, "only root has control groups here"))
        func readsAreAsSlowAsRequested() throws {
            let folder = try TestFolder()
            let data = try folder.write([UInt8](repeating: 3, count: 2 << 20), to: "data")
            var request = ConditionRequest()
            request.disk = try DiskRate(parsing: "1M")
            let conditions = try LaunchConditions(request, program: python)
            let code = """
                import os, sys, time
                file = os.open(sys.argv[1], os.O_RDONLY)
                start = time.monotonic()
                count = 0
                while part := os.read(file, 1 << 16): count += len(part)
                print(count / (time.monotonic() - start))
                """
            let words = [python, "-I", "-S", "-c", code, data]
            func rate() throws -> Double {
                let end = try TestLaunch.run(words, in: conditions.childSetting)
                return try #require(Double(end.output.dropLast()), "\(end.output)")
            }
            // From the page cache it comes as fast as ever; and so does the interpreter afterwards.
            let warm = try (1...3).map { _ in try rate() }
            #expect(warm.contains { $0 > 2 * 1_048_576 }, "\(warm) bytes a second")
            let cold = try (1...3).map { _ in
                ColdFiles(program: data, others: []).evict()
                return try rate()
            }
            #expect(
                cold.contains { $0 > 0 && $0 / 1_048_576 < 1.15 }, "\(cold) bytes a second")
            #expect(conditions.notes.contains { $0.contains("not from the page cache") })
        }

        @Test(.enabled(if: !isRoot, "root may"))
        func withoutAGroupOfOnesOwnItIsRefused() throws {
            var request = ConditionRequest()
            request.disk = try DiskRate(parsing: "1M")
            #expect {
                try LaunchConditions(request, program: python)
            } throws: { error in
                guard let error = error as? ConditionError else { return false }
                return error.exitStatus == 125 && error.description.contains("run as root")
            }
        }

        @Test func aProgramThatComesFromNoDiskIsRefused() throws {
            #expect {
                try DiskCheck.check(program: "/proc/self/cmdline")
            } throws: { error in
                "\(error)".contains("file system in memory")
            }
        }

        @Test(.enabled(if: isRoot, "only root has control groups here"))
        func theGroupIsGoneAfterwards() throws {
            let trees = ControlGroupTree.find(
                mounts: try #require(FileText.text(of: "/proc/self/mountinfo")),
                groups: try #require(FileText.text(of: "/proc/self/cgroup")))
            func groups() -> [String] {
                trees.flatMap(\.candidates).flatMap { parent -> [String] in
                    let result = Command(words: ["ls", parent], limit: .milliseconds(10_000)).run()
                    return result.output.split(separator: "\n").map(String.init)
                }.filter { $0.hasPrefix("firstlight-") }
            }
            let before = groups()
            do {
                let limit = try DiskLimit(DiskRate(bytesPerSecond: 1 << 20))
                #expect(limit.processes >= 0)
                #expect(groups().count == before.count + 1)
            }
            #expect(groups() == before)
        }

        @Test func noDiskOrNoGroupIsSaid() {
            #expect(throws: ConditionError.self) {
                _ = try DiskLimit(DiskRate(bytesPerSecond: 1 << 20), trees: [], devices: [])
            }
            #expect {
                _ = try DiskLimit(
                    DiskRate(bytesPerSecond: 1 << 20), trees: [],
                    devices: [BlockDevice(number: "8:0", name: "sda")])
            } throws: { error in
                "\(error)".contains("no control groups for disks")
            }
        }
    }
}

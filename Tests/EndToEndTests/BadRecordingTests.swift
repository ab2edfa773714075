import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Files that `report` and `fold` cannot read: one line, status 1.
    @Suite struct BadRecordings {
        private let scratch: Scratch
        private let good: Data

        init() throws {
            scratch = try Scratch()
            let recorded = try Firstlight.record(["true"], in: scratch)
            good = FileManager.default.contents(atPath: recorded.path) ?? Data()
            #expect(good.count > 4096)
        }

        private func expectRefusal(_ path: String, _ reason: String) throws {
            for subcommand in ["report", "fold"] {
                let result = try Firstlight.run(subcommand, path)
                #expect(result.isRefusal(1, mentioning: path, reason), "\(result)")
                #expect(result.output == "")
            }
        }

        private func expectRefusal(of bytes: Data, _ reason: String) throws {
            try bytes.write(to: URL(fileURLWithPath: scratch("bad")))
            try expectRefusal(scratch("bad"), reason)
            #expect(FileManager.default.contents(atPath: scratch("bad")) == bytes)
        }

        @Test func absentOnes() throws {
            try expectRefusal(scratch("absent"), "No such file")
            try expectRefusal(scratch.folder, "directory")
            try expectRefusal("/dev/null", "device")
            var nothing = try Firstlight.command(["report"])
            nothing.directory = scratch.folder
            let result = try nothing.run()
            #expect(result.isRefusal(1, mentioning: "launch.firstlight", "record"), "\(result)")
        }

        @Test func otherFiles() throws {
            try expectRefusal(of: Data("a letter to my aunt\n".utf8), "not a Firstlight recording")
            try expectRefusal(of: Data(), "empty")
            try expectRefusal(of: Data(repeating: 0, count: 8192), "not a Firstlight recording")
            // The database of another program: SQLite's application id is at offset 68.
            var other = good
            other[68] ^= 0xff
            try expectRefusal(of: other, "not a Firstlight recording")
        }

        /// SQLite's `user_version` is the schema's version, at offset 60.
        @Test func newerOnes() throws {
            var newer = good
            newer[60] = 0
            newer[63] = 99
            try expectRefusal(of: newer, "newer")
        }

        @Test func truncatedOnes() throws {
            for length in [1, 50, 100, 4096, good.count / 2, good.count - 1] {
                let bytes = good.prefix(length)
                try bytes.write(to: URL(fileURLWithPath: scratch("bad")))
                let result = try Firstlight.run("report", scratch("bad"))
                #expect(result.isRefusal(1, mentioning: scratch("bad")), "\(length): \(result)")
            }
        }

        /// Any content is read or refused, and never causes a crash.
        @Test func damagedOnes() throws {
            var random: UInt64 = 0x2545_F491_4F6C_DD1D
            for round in 0..<40 {
                var bytes = good
                for _ in 0..<16 {
                    random ^= random << 13
                    random ^= random >> 7
                    random ^= random << 17
                    bytes[Int(random >> 8) % bytes.count] = UInt8(truncatingIfNeeded: random)
                }
                try bytes.write(to: URL(fileURLWithPath: scratch("bad")))
                let result = try Firstlight.run("report", scratch("bad"))
                #expect(result.status == 0 || result.isRefusal(1), "\(round): \(result)")
            }
        }
    }
}

import Glibc
import ProfileModel
import Testing

@testable import Conditions

extension LaunchedTests {
    /// Programs that start from the disk.
    @Suite struct ColdTests {
        private let script = ["-I", "-S", "-c", "import json, re, decimal"]

        private func conditions(
            _ program: String, _ cold: ConditionRequest.Cold = .files
        ) throws -> LaunchConditions {
            var request = ConditionRequest()
            request.cold = cold
            return try LaunchConditions(request, program: program)
        }

        /// Which files it opens, found by a launch that does not count.
        private func files(_ program: String, _ conditions: LaunchConditions) throws -> [String] {
            var setting = conditions.childSetting
            setting.tellsOpens = true
            let launch = try TestLaunch([program] + script, in: setting)
            let opened = OpenedFiles(listener: launch.listener, program: program)
            launch.start()
            let end = try launch.end()
            #expect(end.status == 0)
            return opened.paths
        }

        @Test func openedFilesAreFound() throws {
            let paths = try files(python, conditions(python))
            #expect(paths.first == python)
            #expect(paths.contains { $0.contains("ld-linux") })
            #expect(paths.contains { $0.hasSuffix("/libc.so.6") })
            #expect(
                paths.contains { $0.contains("json/__init__") || $0.contains("json/__pycache__") })
            #expect(Set(paths).count == paths.count)
        }

        @Test func aColdLaunchIsProvenAndAWarmOneNever() throws {
            let folder = try TestFolder()
            let program = try folder.copyOfPython()
            let conditions = try conditions(program)
            let paths = try files(program, conditions)
            try conditions.use(files: paths)
            // This, too, removes them from the cache.
            let files = ColdFiles(program: program, others: paths)
            var reads: [Int64] = []
            for _ in 0..<3 {
                let launch = try TestLaunch([program] + script, in: conditions.childSetting)
                let state = try #require(try conditions.evict())
                #expect(state.files.first?.cached == 0)
                launch.start()
                let end = try launch.end()
                #expect(end.status == 0)
                let verdict = conditions.judge(state, readBytes: end.readBytes)
                // Other programs use the same libraries: then the reason must be given.
                if case .warm(let why) = verdict {
                    #expect(why.contains("something reads them between the launches"))
                    continue
                }
                #expect(verdict == .cold)
                reads.append(end.readBytes)
            }
            guard let usual = reads.sorted().dropFirst(reads.count / 2).first else { return }
            // The same without making it cold. Right after a cold launch another may still read ahead
            // what that one did not need, and a machine short of memory takes pages away: such a launch
            // reads a little, but never passes as cold. Without such trouble it reads nothing.
            var hasReadNothing = false
            for _ in 0..<5 where !hasReadNothing {
                let launch = try TestLaunch([program] + script, in: conditions.childSetting)
                let before = files.state()
                launch.start()
                let end = try launch.end()
                let evidence = ColdEvidence(
                    before: before, unavoidable: files.unavoidable, readBytes: end.readBytes,
                    usualReadBytes: usual)
                #expect(!evidence.isProvenCold, "\(end.readBytes) bytes read")
                // Each of the two alone proves it: the cached pages, and the bytes read.
                #expect(!evidence.with(readBytes: reads[0]).isProvenCold)
                #expect(conditions.judge(files.unavoidable, readBytes: end.readBytes) != .cold)
                hasReadNothing = end.readBytes == 0
            }
            #expect(hasReadNothing)
        }

        /// Another process reads the program between its eviction and its launch.
        @Test func aFileReadBeforeTheLaunchIsWarm() throws {
            let folder = try TestFolder()
            let program = try folder.copyOfPython()
            let conditions = try conditions(program)
            let first = try TestLaunch([program] + script, in: conditions.childSetting)
            let state = try #require(try conditions.evict())
            first.start()
            let cold = try first.end()
            #expect(conditions.judge(state, readBytes: cold.readBytes) == .cold)
            let second = try TestLaunch([program] + script, in: conditions.childSetting)
            let again = try #require(try conditions.evict())
            #expect(FileText.bytes(of: program, limit: 1 << 30) != nil)
            second.start()
            let warm = try second.end()
            #expect(conditions.judge(again, readBytes: warm.readBytes) != .cold)
        }

        @Test func freshlyWrittenFilesLeaveTheCache() throws {
            let folder = try TestFolder()
            let path = try folder.write([UInt8](repeating: 7, count: 1 << 20), to: "new")
            let file = try CachedFile(path: path)
            #expect(file.state().cached == 1 << 20)
            #expect(file.state().isExact)
            file.evict()
            #expect(file.state().cached == 0)
            #expect(FileText.bytes(of: path)?.allSatisfy { $0 == 7 } == true)
        }

        /// An ordinary user learns about others' files by probes.
        @Test(.enabled(if: !isRoot, "root may ask for all files"))
        func probesTellWhatOthersHaveMapped() throws {
            let library = try #require(FileText.real("/lib/x86_64-linux-gnu/libc.so.6"))
            let file = try CachedFile(path: library)
            file.evict()
            let state = file.state()
            #expect(!state.isExact)
            #expect(2 * state.cached > state.size)
        }

        @Test func filesInMemoryAreNoProof() throws {
            let conditions = try conditions("/proc/self/cmdline")
            let state = try #require(try conditions.evict())
            guard case .unproven? = conditions.judge(state, readBytes: 4096) else {
                Issue.record("a file in memory was taken for cold")
                return
            }
        }

        @Test(.enabled(if: !isRoot, "root may"))
        func droppingAllCachesNeedsRoot() {
            #expect {
                try conditions(python, .all)
            } throws: { error in
                "\(error)".contains("drop_caches cannot be written to; run as root")
            }
        }

        /// libc, too, which every process of the machine has mapped.
        @Test func privateCopiesAreColdAltogether() throws {
            let conditions = try conditions(python, .privateCopies)
            try conditions.use(files: try files(python, conditions))
            let code = """
                import os
                print(os.getcwd())
                print([l.split()[4] for l in open('/proc/self/maps') if 'libc.so' in l][0])
                print(os.readlink('/proc/self/exe'))
                """
            let words = [python, "-I", "-S", "-c", code]
            let launch = try TestLaunch(words, in: conditions.childSetting)
            let state = try #require(try conditions.evict())
            #expect(state.cachedBytes == 0)
            #expect(state.fileBytes > 1 << 20)
            launch.start()
            let end = try launch.end()
            #expect(conditions.judge(state, readBytes: end.readBytes) == .cold)
            let lines = end.output.split(separator: "\n").map(String.init)
            try #require(lines.count == 3, "\(end.output)")
            var status = stat()
            stat("/lib/x86_64-linux-gnu/libc.so.6", &status)
            let folder = getcwd(nil, 0)
            defer { free(folder) }
            #expect(lines[0] == folder.map { String(cString: $0) })
            #expect(UInt64(lines[1]) != UInt64(status.st_ino))
            #expect(lines[2] == python)
        }
    }
}

extension ColdEvidence {
    fileprivate func with(readBytes: Int64) -> Self {
        var changed = self
        changed.readBytes = readBytes
        return changed
    }
}

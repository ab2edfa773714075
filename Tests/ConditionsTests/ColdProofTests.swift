import TestSupport
import Testing

@testable import Conditions

/// Whether a launch was cold, from figures alone.
@Suite struct ColdProofTests {
    private let page: Int64 = 4096

    /// A program of 100 pages and two libraries; the second stays in the cache.
    private func state(program: Int64 = 0, library: Int64 = 0, shared: Int64 = 50) -> CacheState {
        CacheState(files: [
            FileCacheState(path: "/bin/program", size: 100 * page, cached: program * page),
            FileCacheState(path: "/lib/own.so", size: 40 * page, cached: library * page),
            FileCacheState(path: "/lib/libc.so", size: 50 * page, cached: shared * page),
        ])
    }

    private func evidence(
        _ before: CacheState, read: Int64?, usual: Int64? = nil
    ) -> ColdEvidence {
        ColdEvidence(
            before: before, unavoidable: state(), readBytes: read.map { $0 * page },
            usualReadBytes: usual.map { $0 * page })
    }

    private func isWarm(_ verdict: ColdVerdict, _ words: String) -> Bool {
        guard case .warm(let reason) = verdict else { return false }
        return reason.contains(words)
    }

    private func isUnproven(_ verdict: ColdVerdict, _ words: String) -> Bool {
        guard case .unproven(let reason) = verdict else { return false }
        return reason.contains(words)
    }

    @Test func uncachedFilesThatWereReadAreCold() {
        #expect(evidence(state(), read: 90).isProvenCold)
        #expect(evidence(state(), read: 90, usual: 90).isProvenCold)
        #expect(evidence(state(), read: 70, usual: 90).isProvenCold)
    }

    /// A warm launch must never pass.
    @Test func aWarmLaunchIsNot() {
        let warm = state(program: 100, library: 40)
        for read: Int64 in [0, 1, 10, 1000] {
            #expect(!evidence(warm, read: read).isProvenCold)
            #expect(isWarm(evidence(warm, read: read).verdict, "/bin/program was cached"))
        }
    }

    @Test func withoutReadingNothingIsCold() {
        #expect(isWarm(evidence(state(), read: 0).verdict, "nothing was read"))
        #expect(isUnproven(evidence(state(), read: nil).verdict, "what it read is not known"))
    }

    @Test func aLibraryThatCameBackIsNoticed() {
        let verdict = evidence(state(library: 40), read: 90).verdict
        #expect(isWarm(verdict, "/lib/own.so"))
        #expect(isWarm(verdict, "160 KiB"))
        // A few pages do not count.
        #expect(evidence(state(library: 5), read: 90).isProvenCold)
    }

    @Test func readingFarLessThanOthersIsWarm() {
        #expect(isWarm(evidence(state(), read: 60, usual: 90).verdict, "where others read 360 KiB"))
    }

    @Test func readingLessThanEachFilesBeginningIsWarm() {
        let files = (0..<10).map {
            FileCacheState(path: "/f\($0)", size: 10 * page, cached: 0)
        }
        let state = CacheState(files: files)
        let evidence = { (pages: Int64) in
            ColdEvidence(before: state, unavoidable: state, readBytes: pages * 4096)
        }
        #expect(isWarm(evidence(4).verdict, "less than the beginnings"))
        #expect(evidence(5).isProvenCold)
    }

    @Test func aProgramThatOthersRunIsNotCold() {
        var all = state(program: 100)
        let verdict = ColdEvidence(before: all, unavoidable: all, readBytes: 1 << 20).verdict
        #expect(isWarm(verdict, "another process uses it"))
        all.files = []
        let none = ColdEvidence(before: all, unavoidable: all, readBytes: 1 << 20).verdict
        #expect(isUnproven(none, "files are not known"))
    }

    @Test(arguments: [FileSystemKind.network, .program, .memory, .other])
    func elsewhereNothingIsProven(_ kind: FileSystemKind) {
        var state = state()
        state.files[0].kind = kind
        #expect(isUnproven(evidence(state, read: 90).verdict, kind.words))
    }

    @Test func filesInMemoryDoNotMatterUnlessTheyAreTheProgram() {
        var state = state()
        state.files.append(
            FileCacheState(path: "/run/x", size: 1000 * page, kind: .memory, cached: 0))
        #expect(evidence(state, read: 90).isProvenCold)
        state.files.append(
            FileCacheState(path: "/net/x", size: 1000 * page, kind: .network, cached: 0))
        #expect(isUnproven(evidence(state, read: 90).verdict, "/net/x"))
    }

    @Test func aLittleThatCannotBeProvenDoesNotMatter() {
        var state = state()
        state.files.append(
            FileCacheState(path: "/net/x", size: 2 * page, kind: .network, cached: 0))
        #expect(evidence(state, read: 90).isProvenCold)
    }

    @Test func onlyExactFiguresAreGivenOn() {
        var state = state()
        #expect(state.cachedBytes == 50 * page)
        #expect(state.fileBytes == 190 * page)
        #expect(state.staying.map(\.path) == ["/lib/libc.so"])
        state.files[1].isExact = false
        #expect(state.cachedBytes == nil)
        #expect(state.estimatedBytes == 50 * page)
    }

    /// With any other figures: nothing read, or a program in the cache, is never cold.
    @Test func noFiguresMakeAWarmLaunchCold() {
        var numbers = SeededNumbers(seed: 7)
        for _ in 0..<10_000 {
            let files = (0..<Int.random(in: 1...5, using: &numbers)).map { index in
                let size = Int64.random(in: 0...100, using: &numbers) * page
                return FileCacheState(
                    path: "/f\(index)", size: size,
                    cached: Int64.random(in: 0...size, using: &numbers),
                    isExact: .random(using: &numbers))
            }
            let evidence = ColdEvidence(
                before: CacheState(files: files),
                unavoidable: CacheState(files: .random(using: &numbers) ? files : []),
                readBytes: Int64.random(in: 0...100, using: &numbers) * page,
                usualReadBytes: .random(using: &numbers) ? 50 * page : nil)
            let isProgramCached = files[0].size > 0 && files[0].cached * 10 > files[0].size
            if evidence.readBytes == 0 || isProgramCached { #expect(!evidence.isProvenCold) }
        }
    }

    @Test func kindsAreToldByTheKernelsNumbers() {
        #expect(FileSystemKind(type: 0xEF53) == .disk)
        #expect(FileSystemKind(type: 0x0102_1994) == .memory)
        #expect(FileSystemKind(type: 0x6969) == .network)
        #expect(FileSystemKind(type: 0x6573_5546) == .program)
        #expect(FileSystemKind(type: 0x794C_7630) == .overlay)
        #expect(FileSystemKind(type: 0x2FC1_2FC1) == .other)
    }

    @Test func amountsAreRounded() {
        #expect(ColdEvidence.amount(0) == "0 KiB")
        #expect(ColdEvidence.amount(1 << 20) == "1.0 MiB")
        #expect(ColdEvidence.amount(3 << 19) == "1.5 MiB")
    }
}

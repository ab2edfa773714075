import Analysis
import MadeRecordings
import ProfileModel
import Report
import Testing

/// What the view of modules says of symbols.
@Suite struct ModuleTextTests {
    private func report(
        _ symbols: [String: ModuleSymbols], packages: [String: String] = [:],
        buildID: [UInt8] = [0xAB, 0xCD, 0xEF, 0x01]
    ) -> String {
        var builder = RecordingBuilder(attached: true)
        builder.border(.attached, 0)
        builder.border(.ended, 100)
        let main = builder.thread("app", tid: 100, to: 100, isMain: true)
        var spots: [RecordingBuilder.Spot] = []
        for path in symbols.keys.sorted() { spots.append(.init(nil, path)) }
        builder.slice(main, at: 0, running: 100, builder.stack(spots))
        for (index, module) in builder.recording.modules.enumerated() {
            builder.recording.modules[index].buildID = buildID
            builder.recording.symbols.modules[ModuleIndex(index)] = symbols[module.path]
        }
        var options = TextOptions()
        options.width = 200
        options.debugPackages = packages
        return TextReport.render(Profile(builder.recording), view: .modules, options: options)
    }

    @Test func debianPackagesAreNamed() {
        let paths = ["/usr/lib/libfoo.so.1", "/usr/lib/libc.so.6"]
        let text = report(
            [paths[0]: ModuleSymbols(symbolOrigin: .exported), paths[1]: ModuleSymbols()],
            packages: [paths[0]: "libfoo1", paths[1]: "libc6"])
        #expect(text.contains("apt install libfoo1-dbgsym, or set DEBUGINFOD_URLS"))
        #expect(text.contains("apt install libc6-dbg, or"))
        #expect(text.contains("build id abcdef01"))
    }

    @Test func aModuleWithDebugInformationLacksNothing() {
        let path = "/usr/lib/libfoo.so.1"
        let text = report([
            path: ModuleSymbols(
                debugInfoPath: "/d", debugInfoOrigin: .buildID, symbolOrigin: .complete)
        ])
        #expect(!text.contains("What is missing"))
        #expect(text.contains("by build id"))
    }

    @Test func ownCodeIsToBeBuiltWithDebugInfo() {
        let text = report(["/home/dev/app": ModuleSymbols(symbolOrigin: .exported)])
        #expect(text.contains("/home/dev/app: 1 of 1 address without a name, no lines"))
        #expect(text.contains("→ build it with -g, and do not strip it"))
    }

    @Test func withoutABuildIDNothingCanBeLookedFor() {
        let text = report(["/usr/lib/libfoo.so.1": ModuleSymbols()], buildID: [])
        #expect(text.contains("it has no build id, so its debug information cannot be found"))
    }

    /// Each kind has a sentence, and what files' names contain reaches no terminal.
    @Test(arguments: ModuleRemark.Kind.allCases)
    func remarksAreSaid(kind: ModuleRemark.Kind) {
        let remark = ModuleRemark(kind, "/x\u{1B}[31m")
        let text = report([
            "/usr/lib/lib.so": ModuleSymbols(
                debugInfoPath: "/d", debugInfoOrigin: .module, remarks: [remark])
        ])
        #expect(text.contains("Remarks"))
        #expect(text.contains("/usr/lib/lib.so: "))
        #expect(!text.contains("\u{1B}"))
    }
}

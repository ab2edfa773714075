import ProfileModel
import Testing

@Suite struct AddressTests {
    @Test func onlyAReturnAddressIsLookedUpOneByteBefore() {
        #expect(CodeAddress(0x1000, .instruction).lookup == 0x1000)
        #expect(CodeAddress(0x1000, .returnAddress).lookup == 0xFFF)
        #expect(CodeAddress(0, .instruction).lookup == 0)
        // Bad data, not a trap.
        #expect(CodeAddress(0, .returnAddress).lookup == .max)
    }

    private static let paths: [(path: String, name: String?, isOwn: Bool)] = [
        ("/home/dev/app", "app", true), ("/opt/tool/lib/libx.so.1", "libx.so.1", true),
        ("/usr/local/bin/app", "app", true), ("/usr/src/build/app", "app", true),
        ("/usr/lib/x86_64-linux-gnu/libc.so.6", "libc.so.6", false),
        ("/usr/bin/python3", "python3", false), ("/lib/ld-musl-x86_64.so.1", nil, false),
        ("/lib64/ld-linux-x86-64.so.2", nil, false), ("/bin/sh", "sh", false),
        ("/nix/store/x/lib/libc.so.6", nil, false), ("/dev/zero", nil, false),
        ("/memfd:program (deleted)", nil, true), ("[anon:memfd:jit]", nil, false),
        ("[vdso]", "[vdso]", false), ("", "", false),
        ("app", "app", false),
        ("/usrx/lib/libx.so", "libx.so", true), ("/library/x", "x", true),
        ("/home/dev/my app (deleted)", "my app (deleted)", true),
    ]

    @Test(arguments: paths)
    func modules(path: String, name: String?, isOwn: Bool) {
        let module = Module(path: path)
        if let name { #expect(module.name == name) }
        #expect(module.isOwn == isOwn)
    }

    /// The recorder names memory that holds no program and no library.
    @Test(arguments: [
        ("", "[anon:code]"), ("//anon", "[anon:code]"), ("[anon:v8]", "[anon:v8]"),
        ("/memfd:jit (deleted)", "[anon:memfd:jit]"), ("/dev/zero (deleted)", "[anon:dev/zero]"),
        ("/anon_hugepage (deleted)", "[anon:anon_hugepage]"),
    ])
    func memory(name: String, path: String) {
        #expect(Module.generatedPath(name) == path)
        #expect(Module(path: path).isGenerated)
        let mapping = CodeMapping(start: 0, end: 1, fileOffset: 0, path: name, inode: 0)
        #expect(mapping.isMemory)
    }

    @Test func imagesAreNamedByTheirFile() {
        func name(_ path: String, _ arguments: String...) -> Substring {
            Image(path: path, arguments: arguments, time: MonotonicTime(nanoseconds: 0)).name
        }
        #expect(name("/bin/sh") == "sh")
        #expect(name("") == "")
        #expect(name("sh") == "sh")
        // Its file is gone, or was never there.
        #expect(name("/home/dev/my app (deleted)") == "my app")
        #expect(name("/memfd:payload (deleted)") == "payload")
        #expect(name("/memfd: (deleted)") == "")
        #expect(name("/home/ (deleted)") == " (deleted)")
        // The name with which it was started is in its path; argv[0] may be anything.
        #expect(name("/usr/bin/redis-server", "redis-server *:6379") == "redis-server")
        #expect(name("", "/bin/login") == "login")
        #expect(name("", "-bash") == "bash")
    }

    @Test func indicesOrderByPosition() {
        #expect(ThreadIndex(1) < ThreadIndex(2))
        #expect(!(ModuleIndex(2) < ModuleIndex(2)))
    }

    @Test func storedValuesStayWhatTheyAre() {
        #expect(Truncation.allCases.map(\.rawValue) == Array(1...10))
        #expect(Set(Truncation.allCases.map(\.label)).count == Truncation.allCases.count)
        #expect(LaunchBorder.Kind.allCases.map(\.rawValue) == Array(1...9))
        #expect(CaptureMethod.allCases.map(\.rawValue) == ["signal", "ptrace", "event", "perf"])
    }
}

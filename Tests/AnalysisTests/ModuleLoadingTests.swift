import Analysis
import MadeRecordings
import ProfileModel
import Testing

private typealias Spot = RecordingBuilder.Spot

private let code = "[anon:v8]"
private let loader = "node:internal/modules/cjs/loader"

private func function(_ name: String, _ file: String, _ line: Int32 = 1) -> Spot {
    Spot(name, code, file: file, line: line)
}

/// What Node runs between `require` and a module's code.
private let loading = [
    function("require", "node:internal/modules/helpers"), function("Module._load", loader),
    function("Module._extensions..js", loader), function("Module._compile", loader),
    Spot("Builtins_CallFunction", "/usr/bin/node"),
]

/// Modules of Node in the place of the functions that load them.
@Suite struct ModuleLoadingTests {
    private func profile(_ stacks: [[Spot]]) -> Profile {
        var builder = RecordingBuilder(attached: true, images: [("/usr/bin/node", 0)])
        builder.border(.attached, 0)
        builder.border(.ended, 100)
        let main = builder.thread("node", tid: 100, to: 100, isMain: true)
        for (index, spots) in stacks.enumerated() {
            builder.slice(main, at: Int64(index) * 10, running: 10, builder.stack(spots))
        }
        return Profile(builder.recording)
    }

    /// Each path from the root, by the functions' names.
    private func paths(_ tree: CallTree) -> [String] {
        func lines(_ range: Range<Int>, _ before: String) -> [String] {
            range.flatMap { index in
                let node = tree.nodes[index]
                let path = before + tree.function(of: node).name
                return (node.children.isEmpty ? [path] : []) + lines(node.children, path + " > ")
            }
        }
        return lines(tree.roots, "").sorted()
    }

    private let start = [
        Spot("main", "/usr/bin/node"),
        function("executeUserEntryPoint", "node:internal/modules/run_main"),
        function("Module._load", loader), function("<module>", "/home/dev/app/main.js"),
    ]

    @Test func modulesStandForTheirLoader() {
        let inner = function("<module>", "/home/dev/app/lib/work.js")
        let package = function("<module>", "/home/dev/app/node_modules/@x/dep/lib/a.js")
        let builtin = [
            function("compileForPublicLoader", "node:internal/bootstrap/realm"),
            function("<module>", "node:http"),
        ]
        let found = profile([
            start + loading + [inner] + loading + [package],
            start + loading + [inner, function("work", "/home/dev/app/lib/work.js", 3)],
            start + builtin,
        ])
        #expect(
            paths(found.imports(weight: .cpu).tree) == [
                "import lib/work.js > import @x/dep/lib/a.js", "import node:http",
            ])
        #expect(
            paths(found.topDown(weight: .cpu)) == [
                "main > executeUserEntryPoint > Module._load > <module> > import lib/work.js > "
                    + "<module> > import @x/dep/lib/a.js > <module>",
                "main > executeUserEntryPoint > Module._load > <module> > import lib/work.js > "
                    + "<module> > work",
                "main > executeUserEntryPoint > Module._load > <module> > import node:http > <module>",
            ])
    }

    @Test func whereTheLoaderIsAtWorkItStays() {
        let found = profile([start + loading.prefix(2) + [Spot("read", "/lib/libc.so.6")]])
        #expect(found.imports(weight: .cpu).tree.roots.isEmpty)
        #expect(
            paths(found.topDown(weight: .cpu)) == [
                "main > executeUserEntryPoint > Module._load > <module> > require > Module._load > read"
            ])
    }

    @Test func theThreadThatLoadsStaysInTheLaunch() {
        let hook = function("compile", "/home/dev/app/node_modules/hook/index.js")
        let found = profile([
            start + loading + [hook] + loading + [function("<module>", "/home/dev/app/a.js")]
        ])
        let path = paths(found.topDown(weight: .cpu)).first ?? ""
        #expect(path.hasSuffix("Builtins_CallFunction > compile > import a.js > <module>"))
    }

    @Test func functionsAreCalledByTheirScripts() {
        let found = profile([
            start + [function("(anonymous)", "/home/dev/app/main.js", 7)] + [
                function("(anonymous)", "/home/dev/app/main.js", 9),
                function("emit", "node:events", 3),
                function("go", "/home/dev/app/node_modules/dep/index.js", 3),
            ]
        ])
        let scripts = found.frames.functions.filter {
            $0.module.hasSuffix(".js") || $0.module == "node:events"
        }
        #expect(
            scripts.map(\.module) == [
                "main.js", "main.js", "main.js", "node:events", "dep/index.js",
            ])
        #expect(scripts.map(\.isOwn) == [true, true, true, false, false])
        #expect(scripts.map(\.line) == [nil, 7, 9, nil, nil])
    }
}

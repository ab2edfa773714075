import ProfileModel
import Testing

@Suite struct ScriptPathTests {
    @Test(arguments: [
        "/home/dev/app.py", "app.py", "./tool/__main__.py", "<string>", "<stdin>", "",
        "/opt/tool/python/app.py", "/srv/pythonish/x.py", "/home/dev/python-app/main.py",
        "/home/dev/app.js", "[eval]",
    ])
    func isTheDevelopersOwn(path: String) {
        #expect(ScriptPath(path).isOwn)
    }

    @Test(arguments: [
        "/usr/lib/python3.11/json/decoder.py", "/usr/lib/python3/dist-packages/apt/cache.py",
        "/home/dev/.venv/lib/python3.12/site-packages/numpy/__init__.py",
        "/opt/conda/lib/python3.13t/asyncio/events.py", "<frozen importlib._bootstrap>",
        "/home/dev/.pyenv/versions/3.10.13/lib/python3.10/typing.py",
        "node:internal/modules/esm/loader", "<import>",
        "node:fs", "/home/dev/node_modules/dep/index.js", "/usr/share/nodejs/semver/index.js",
    ])
    func isTheLanguagesOrAPackages(path: String) {
        #expect(!ScriptPath(path).isOwn)
    }

    @Test(arguments: [
        ("/home/dev/app.py", "app.py"), ("/x/numpy/__init__.py", "numpy/__init__.py"),
        ("/x/tool/__main__.py", "tool/__main__.py"), ("__init__.py", "__init__.py"),
        ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>"), ("", ""),
        ("<import>", "<import>"), ("/", "/"), ("/x/dep/index.js", "dep/index.js"),
        ("node:internal/url", "node:internal/url"),
    ])
    func isCalledByItsFile(path: String, name: String) {
        #expect(ScriptPath(path).shortName == name)
    }
}

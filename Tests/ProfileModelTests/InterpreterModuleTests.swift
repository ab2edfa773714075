import ProfileModel
import Testing

/// Interpreters are nobody's own code, wherever a version manager put them.
@Suite struct InterpreterModuleTests {
    @Test(arguments: [
        "/home/dev/.pyenv/versions/3.11.4/lib/libpython3.11.so.1.0",
        "/home/dev/.pyenv/versions/3.11.4/bin/python3.11", "/usr/local/bin/python3.13t",
        "/usr/local/bin/python3", "/opt/conda/lib/libpython3.12.so", "/opt/conda/bin/python",
        "/home/dev/.pyenv/versions/3.11.4/lib/python3.11/lib-dynload/_json.cpython-311.so",
        "/home/dev/.venv/lib/python3.12/site-packages/numpy/core/_multiarray.so",
        "/home/dev/.nvm/versions/node/v20.1.0/bin/node",
        "/home/dev/app/node_modules/sharp/build/sharp.node",
    ])
    func isNotOwn(path: String) {
        #expect(!Module(path: path).isOwn)
    }

    @Test(arguments: [
        "/home/dev/app", "/home/dev/bin/pythonista", "/home/dev/bin/python-app",
        "/home/dev/libpythonic.so", "/home/dev/lib/libpythonic.so", "/home/dev/node",
        "/home/dev/project/build/native.so", "/home/dev/cpython/libpython3.14.so",
        "/usr/local/lib/libown.so", "/srv/tool/bin/node-server",
    ])
    func isOwn(path: String) {
        #expect(Module(path: path).isOwn)
    }
}

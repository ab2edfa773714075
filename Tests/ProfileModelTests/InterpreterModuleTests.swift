import ProfileModel
import Testing

/// Interpreters are never the user's own code, wherever a version manager put them.
@Suite struct InterpreterModuleTests {
    @Test(arguments: [
        "/home/dev/.pyenv/versions/3.11.4/lib/libpython3.11.so.1.0",
        "/home/dev/.pyenv/versions/3.11.4/bin/python3.11", "/usr/local/bin/python3.13t",
        "/usr/local/bin/python3", "/opt/conda/lib/libpython3.12.so", "/opt/conda/bin/python",
        "/home/dev/.pyenv/versions/3.11.4/lib/python3.11/lib-dynload/_json.cpython-311.so",
        "/home/dev/.venv/lib/python3.12/site-packages/numpy/core/_multiarray.so",
        "/home/dev/.nvm/versions/node/v20.1.0/bin/node",
        "/home/dev/app/node_modules/sharp/build/sharp.node",
        "/home/dev/dist/app/_internal/libpython3.13.so.1.0", "/tmp/_MEIx7Gq2f/libpython3.11.so.1.0",
        "/home/dev/dist/app/_internal/libssl.so.3", "/tmp/_MEIx7Gq2f/libz.so.1",
        "/home/dev/dist/app/_internal/python3.13/lib-dynload/_json.cpython-313.so",
        "/home/dev/app.dist/libpython3.12.so.1.0", "/home/dev/cpython/libpython3.14.so",
        "/tmp/.mount_appXk/shared/lib/ld-linux-x86-64.so.2",
        "/home/dev/App.AppDir/shared/lib/libc.so.6", "/opt/app/lib/libstdc++.so.6.0.33",
        "/home/dev/.sdkman/candidates/java/21/lib/server/libjvm.so",
    ])
    func isNotOwn(path: String) {
        #expect(!Module(path: path).isOwn)
    }

    @Test(arguments: [
        "/home/dev/app", "/home/dev/bin/pythonista", "/home/dev/bin/python-app",
        "/home/dev/libpythonic.so", "/home/dev/lib/libpythonic.so", "/home/dev/node",
        "/home/dev/project/build/native.so", "/home/dev/dist/app/app",
        "/home/dev/dist/app/_internal/own.cpython-313.so", "/opt/app/lib/libcore.so.1",
        "/tmp/_MEIx7Gq2f/own/native.so", "/home/dev/build/libclient.so.6",
        "/usr/local/lib/libown.so", "/srv/tool/bin/node-server",
    ])
    func isOwn(path: String) {
        #expect(Module(path: path).isOwn)
    }
}

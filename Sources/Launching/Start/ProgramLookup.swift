import CSystem
import Glibc
package import ProcessIO

/// Finds the file that a command names, as a shell would, and tells in advance why it cannot run.
package enum ProgramLookup {
    /// - Returns: the path of the file, as found in PATH.
    package static func resolve(_ name: CommandWord) throws(SamplerError) -> CommandWord {
        let path = try locate(name)
        // A traced program does not gain the privileges of its file, unless the tracer may have
        // them. It would run but behave differently, so we refuse.
        if FilePrivileges.areGained(by: path.cString) { throw .programGainsPrivileges(path.text) }
        return path
    }

    /// Refuses a program whose file the user may not read. From this user, the kernel would hide
    /// the process's memory, times and calls.
    package static func requireReadable(_ path: CommandWord) throws(SamplerError) {
        if faccessat(AT_FDCWD, path.cString, R_OK, AT_EACCESS) != 0, errno == EACCES {
            throw .programUnreadable(path.text)
        }
    }

    /// Why execve(2) failed, in terms of the file.
    package static func explain(path: String, code: Int32) -> SamplerError {
        if code == ENOENT, let interpreter = interpreter(of: path) {
            return .interpreterMissing(path, interpreter: interpreter)
        }
        return code == ENOENT ? .programNotFound(path) : .programNotExecutable(path, code: code)
    }

    private static func locate(_ name: CommandWord) throws(SamplerError) -> CommandWord {
        let (slash, colon) = (CChar(UInt8(ascii: "/")), CChar(UInt8(ascii: ":")))
        if name.bytes.contains(slash) {
            try checkRunnable(name)
            return name
        }
        guard !name.bytes.isEmpty else { throw .programNotFound(name.text) }
        let search =
            getenv("PATH").map { CommandWord(cString: $0) } ?? CommandWord("/bin:/usr/bin")
        var refusal: SamplerError?
        for folder in search.bytes.split(separator: colon, omittingEmptySubsequences: false) {
            let start = folder.isEmpty ? CommandWord(".").bytes : folder
            let path = CommandWord(start + [slash] + name.bytes)
            do throws(SamplerError) {
                try checkRunnable(path)
                return path
            } catch {
                if case .programNotFound = error { continue }
                refusal = refusal ?? error
            }
        }
        throw refusal ?? .programNotFound(name.text)
    }

    private static func checkRunnable(_ path: CommandWord) throws(SamplerError) {
        var status = stat()
        guard stat(path.cString, &status) == 0 else {
            let code = errno
            if code == ENOENT || code == ENOTDIR { throw .programNotFound(path.text) }
            throw .programNotExecutable(path.text, code: code)
        }
        if fl_is_directory(status.st_mode) != 0 { throw .programIsDirectory(path.text) }
        // Effective rights decide; X_OK alone would accept any file for root.
        let isExecutable = status.st_mode & 0o111 != 0 && access(path.cString, X_OK) == 0
        if !isExecutable { throw .programNotExecutable(path.text, code: EACCES) }
    }

    /// The interpreter that a script's first line or an ELF file's headers name.
    private static func interpreter(of path: String) -> String? {
        var buffer = ReadBuffer(capacity: 4096)
        guard let file = ProcFile(path) else { return nil }
        file.read(into: &buffer)
        var text = buffer.text
        guard text.peek() == UInt8(ascii: "#") else { return "the dynamic linker" }
        text.advance()
        guard text.peek() == UInt8(ascii: "!") else { return nil }
        text.advance()
        text.skipSpaces()
        return text.restOfLine().split { $0 == " " || $0 == "\t" }.first.map(String.init)
    }
}

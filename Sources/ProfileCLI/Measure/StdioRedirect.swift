import Glibc

/// Replaces our standard output and error while a program that inherits them must not write there.
struct StdioRedirect: ~Copyable {
    private let output: Int32
    private let error: Int32

    /// nil: no descriptors are left. Output to the streams is lost until ``restore()``.
    init?() {
        let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
        output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
        guard nowhere >= 0, output >= 0, error >= 0 else {
            for descriptor in [nowhere, output, error] where descriptor >= 0 { close(descriptor) }
            return nil
        }
        dup2(nowhere, STDOUT_FILENO)
        dup2(nowhere, STDERR_FILENO)
        close(nowhere)
    }

    /// A console for the original streams.
    var console: Console { Console(output: output, error: error) }

    consuming func restore() {
        dup2(output, STDOUT_FILENO)
        dup2(error, STDERR_FILENO)
        close(output)
        close(error)
    }
}

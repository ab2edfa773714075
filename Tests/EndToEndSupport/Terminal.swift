import Glibc

/// A terminal without a screen: `user` is the programs' side.
package final class Terminal {
    private let screen: Int32
    package let user: Int32

    package init() throws {
        screen = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var locked: CInt = 0
        var number: CInt = 0
        // TIOCSPTLCK and TIOCGPTN, which the module lacks (<asm-generic/ioctls.h>).
        guard screen >= 0, ioctl(screen, 0x4004_5431, &locked) == 0,
            ioctl(screen, 0x8004_5430, &number) == 0
        else { throw Command.Failure(description: "no pseudo-terminal") }
        user = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard user >= 0 else { throw Command.Failure(description: "no pseudo-terminal") }
    }

    deinit {
        close(screen)
        close(user)
    }

    package func type(_ keys: String) throws {
        guard write(screen, keys, keys.utf8.count) == keys.utf8.count else {
            throw Command.Failure(description: "nobody sits at the terminal")
        }
    }

    /// The output up to `text`.
    package func shown(until text: String, limit: Int32 = 300) throws -> String {
        var result = ""
        while !result.contains(text) {
            var entry = pollfd(fd: screen, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, limit * 1000) > 0 else {
                throw Command.Failure(description: "\(text) is not shown; but \(result)")
            }
            result += shown()
        }
        return result
    }

    /// The output so far.
    package func shown() -> String {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        var entry = pollfd(fd: screen, events: Int16(POLLIN), revents: 0)
        while poll(&entry, 1, 0) > 0 {
            let count = read(screen, &buffer, buffer.count)
            if count <= 0 { break }
            text += buffer[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }
}

package import ProcessIO

/// Parses `/proc`'s files about sockets. Skips unexpected lines.
package enum SocketFormats {
    /// The inode in `socket:[12345]`, which links under `/proc/PID/fd` lead to; nil for other files.
    package static func inode(ofLink target: some Collection<UInt8>) -> UInt64? {
        let prefix = "socket:["
        guard target.starts(with: prefix.utf8), target.count > prefix.utf8.count + 1 else {
            return nil
        }
        var text = ProcText(Array(target.dropFirst(prefix.utf8.count)))
        guard let inode = text.unsigned(), text.peek() == UInt8(ascii: "]") else { return nil }
        return inode
    }

    /// The sockets of `/proc/net/tcp` and `tcp6` in state 0A (`TCP_LISTEN` of the kernel's
    /// tcp_states.h). They come first in these files.
    package static func listeningTCP(_ text: ProcText) -> [(inode: UInt64, port: UInt16)] {
        var found: [(inode: UInt64, port: UInt16)] = []
        var text = text
        text.skip(past: 0x0A)  // the heading
        while !text.isAtEnd {
            var line = text
            text.skip(past: 0x0A)
            // sl: address:port address:port state queues timer retransmits uid timeout inode
            line.skipWords(1)
            line.skipSpaces()
            guard line.skip(past: UInt8(ascii: ":")), let port = line.hexadecimal() else {
                continue
            }
            line.skipWords(1)
            guard line.hexadecimal() == 0x0A else { continue }
            line.skipWords(5)
            guard let port = UInt16(exactly: port), let inode = line.unsigned(), inode != 0 else {
                continue
            }
            found.append((inode, port))
        }
        return found
    }

    /// The sockets of `/proc/net/unix` with the flag `__SO_ACCEPTCON` of the kernel's net.h.
    package static func listeningUnix(_ text: ProcText) -> [UInt64] {
        var found: [UInt64] = []
        var text = text
        text.skip(past: 0x0A)
        while !text.isAtEnd {
            var line = text
            text.skip(past: 0x0A)
            // num: references protocol flags type state inode path
            line.skipWords(3)
            guard let flags = line.hexadecimal(), flags & 0x10000 != 0 else { continue }
            line.skipWords(2)
            if let inode = line.unsigned(), inode != 0 { found.append(inode) }
        }
        return found
    }
}

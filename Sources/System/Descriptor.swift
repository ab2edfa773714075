import CSystem
package import Glibc

/// An open file, which is closed when this value ends.
package struct Descriptor: ~Copyable {
    package let number: Int32

    /// Takes over an open descriptor.
    package init(owning number: Int32) { self.number = number }

    /// Opens a file; O_CLOEXEC is added.
    ///
    /// - Parameter mode: for a file that this creates.
    package init(
        _ path: String, _ flags: Int32 = O_RDONLY, mode: UInt32 = 0
    ) throws(Errno) {
        number = try retrying { open(path, flags | O_CLOEXEC, mode) }
    }

    /// Opens a file of untrusted origin for reading, if it is a regular one. (Opening a device may
    /// have effects, and opening a pipe releases its waiting writers.) EMEDIUMTYPE: it is not a
    /// regular file.
    ///
    /// - Parameter flags: such as O_NOFOLLOW.
    package init(regular path: String, _ flags: Int32 = 0) throws(Errno) {
        let result = fl_open_regular(path, flags)
        guard result >= 0 else { throw Errno(-result) }
        number = result
    }

    deinit { close(number) }

    /// Closes the file now. Some file systems report failed writes only then.
    package consuming func finish() throws(Errno) {
        let number = number
        discard self
        // Not repeated: the file is closed even after a signal.
        guard close(number) == 0 else { throw Errno(errno) }
    }

    /// Leaves the file open; the caller must close it.
    package consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }

    package func status() throws(Errno) -> stat {
        var status = stat()
        _ = try retrying { fstat(number, &status) }
        return status
    }

    /// Locks the file against other processes, as long as this lives. False: another process has
    /// the lock, and we do not wait.
    package func lock(waiting: Bool) throws(Errno) -> Bool {
        do throws(Errno) {
            _ = try retrying { flock(number, LOCK_EX | (waiting ? 0 : LOCK_NB)) }
            return true
        } catch {
            guard error.number == EWOULDBLOCK else { throw error }
            return false
        }
    }

    /// Waits until the written data are on the disk. Does nothing for files without a disk.
    package func synchronize() throws(Errno) {
        do throws(Errno) {
            _ = try retrying { fsync(number) }
        } catch {
            guard error.number == EINVAL else { throw error }
        }
    }
}

import CSystem
package import Glibc

/// An open file, which is closed when this ends.
package struct Descriptor: ~Copyable {
    package let number: Int32

    /// Takes over an open descriptor.
    package init(owning number: Int32) { self.number = number }

    /// Opens a file; O_CLOEXEC is added.
    ///
    /// - Parameter mode: of a file that this makes.
    package init(
        _ path: String, _ flags: Int32 = O_RDONLY, mode: UInt32 = 0
    ) throws(Errno) {
        number = try retrying { open(path, flags | O_CLOEXEC, mode) }
    }

    /// Opens a file of somebody else's choosing for reading, if it is a regular one: a device may act
    /// when it is opened, and a pipe let its writers go. EMEDIUMTYPE: it is something else.
    ///
    /// - Parameter flags: such as O_NOFOLLOW.
    package init(regular path: String, _ flags: Int32 = 0) throws(Errno) {
        let result = fl_open_regular(path, flags)
        guard result >= 0 else { throw Errno(-result) }
        number = result
    }

    deinit { close(number) }

    /// Closes it now. Some file systems tell only then that something could not be written.
    package consuming func finish() throws(Errno) {
        let number = number
        discard self
        // Not repeated: it is closed even where a signal came.
        guard close(number) == 0 else { throw Errno(errno) }
    }

    /// Leaves it open for somebody else, who has to close it.
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

    /// Keeps others from locking the file, as long as this lives. False: somebody else has the lock, and
    /// it is not waited for.
    package func lock(waiting: Bool) throws(Errno) -> Bool {
        do throws(Errno) {
            _ = try retrying { flock(number, LOCK_EX | (waiting ? 0 : LOCK_NB)) }
            return true
        } catch {
            guard error.number == EWOULDBLOCK else { throw error }
            return false
        }
    }

    /// Waits until the disk has what was written. Files without a disk behind them are as they are.
    package func synchronize() throws(Errno) {
        do throws(Errno) {
            _ = try retrying { fsync(number) }
        } catch {
            guard error.number == EINVAL else { throw error }
        }
    }
}

import ProcessIO
import ProfileModel

/// Why our code could not be put into the program.
enum SetupFailure: Error {
    case obstacle(RecorderNote.Kind)
    /// The thread is gone, or the program.
    case gone

    /// Runs a system call; an error means that the thread is gone.
    static func attempt<Value>(
        _ body: () throws(SystemError) -> Value
    ) throws(SetupFailure) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            throw .gone
        }
    }
}

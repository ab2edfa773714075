import Marks
import Sampler

/// The sampler knows nothing of files and instructions; what does knows nothing of processes.
extension PreparedPlanner: MarkPlanner {}

import Agent
import Marks
import Sampler

/// Connects the sampler to the planner. The sampler does not know files and instructions; the
/// planner does not know processes.
extension PreparedPlanner: MarkPlanner {}

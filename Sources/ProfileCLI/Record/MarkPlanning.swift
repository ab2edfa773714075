import Agent
import Marks
import Sampler

/// Joins the sampler, which knows nothing of files and instructions, to the planner, which knows
/// nothing of processes.
extension PreparedPlanner: MarkPlanner {}

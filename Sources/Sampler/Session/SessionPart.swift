import Agent
import ProcessIO
import ProfileModel

/// Takes ptrace's reports on a process's threads.
protocol TraceReceiver: AnyObject {
    func take(_ event: TraceEvent, of tid: Int32)
    /// Takes all that has been reported.
    func takeChanges()
}

/// Works on a session's context: each of the session's parts, which has one subject and is made
/// with the other parts that it needs; and the session itself.
protocol SessionPart {
    var context: SessionContext { get }
}

/// Properties that nearly every part needs.
extension SessionPart {
    var process: any ProcessAccess { context.process }
    var pid: Int32 { context.process.pid }
    var options: SamplerOptions { context.options }
    var sink: any SampleSink { context.sink }
    var threads: ThreadTable { context.threads }
    var stage: Stage {
        get { context.stage }
        nonmutating _modify { yield &context.stage }
    }
    var observer: ThreadObserver {
        _read { yield context.observer }
        nonmutating _modify { yield &context.observer }
    }
    var area: AgentMemory? { context.area }
    /// Takes stacks by signal, where that is possible.
    var signalCapture: SignalCapture? { context.signalCapture }
    var marks: MarkPlacement? { context.marks }
    var ledger: SessionLedger {
        get { context.ledger }
        nonmutating _modify { yield &context.ledger }
    }

    func note(_ kind: RecorderNote.Kind) { context.note(kind) }
}

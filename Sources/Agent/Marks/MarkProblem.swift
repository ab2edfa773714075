package import ProfileModel

/// Why a mark was not watched, or not at every place.
package struct MarkProblem: Hashable, Sendable, CustomStringConvertible {
    package enum Cause: Hashable, Sendable {
        /// Neither the program nor its libraries have the function or probe.
        case notFound
        case refused(place: String, MarkRefusal)
        /// Our code could not be put into the program.
        case unavailable
    }

    package var request: MarkRequest
    package var cause: Cause

    package var description: String {
        "--mark \(request.name): " + explanation
    }

    private var explanation: String {
        switch cause {
        case .notFound: "no \(what) in the program or the libraries that it loaded"
        case .refused(let place, let reason): "'\(place)' cannot be marked: \(reason)"
        case .unavailable:
            "the program cannot be watched for marks: it has its system calls filtered, cannot be "
                + "recorded by signal, or relocates itself, and how is not known in time"
        }
    }

    private var what: String {
        switch request.place {
        case .function(let name, let library?, _): "function '\(name)' of '\(library)'"
        case .function(let name, nil, _): "function '\(name)'"
        case .probe(let provider, let name): "probe '\(provider):\(name)'"
        }
    }
}

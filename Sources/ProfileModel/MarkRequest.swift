/// A request by `--mark`: a name, and the place in the program to report under it.
package struct MarkRequest: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        /// Each entry into a function; as an interval, until the function returns.
        ///
        /// - Parameter library: the name of the file that contains it; nil: any file.
        case function(_ name: String, library: String?, isSpan: Bool)
        /// Each time the program passes a USDT probe (sys/sdt.h).
        case probe(provider: String, name: String)
    }

    package var name: String
    package var place: Place

    package init(name: String, place: Place) {
        self.name = name
        self.place = place
    }
}

extension MarkRequest: CustomStringConvertible {
    /// In the words of `--mark`.
    package var description: String {
        switch place {
        case .function(let function, let library, let isSpan):
            "\(name)=\(library.map { $0 + "!" } ?? "")\(function)\(isSpan ? ".." : "")"
        case .probe(let provider, let probe): "\(name)=usdt:\(provider):\(probe)"
        }
    }
}

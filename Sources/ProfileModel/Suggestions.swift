/// Finds the word that the user probably meant by a misspelt one.
package enum Suggestions {
    /// The nearest of `candidates`: one that begins with `word`, or else the one with the fewest
    /// differences, if they are at most half of the shorter word. Among equals, the first.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        if word.count >= 2, let longer = candidates.first(where: { $0.hasPrefix(word) }) {
            return longer
        }
        var nearest: (distance: Int, word: String)?
        for candidate in candidates {
            let distance = distance(word, candidate)
            let shorter = min(word.count, candidate.count)
            guard distance < shorter, distance <= max(1, (shorter + 1) / 2) else { continue }
            if distance < nearest?.distance ?? .max { nearest = (distance, candidate) }
        }
        return nearest?.word
    }

    /// The end of an error message about a word: "; did you mean 'Main'?". Ignores case. Empty: no
    /// candidate is near.
    package static func question(about word: String, among candidates: [String]) -> String {
        let folded = candidates.map { $0.lowercased() }
        let nearest = nearest(to: word.lowercased(), among: folded)
        let index = nearest.flatMap { folded.firstIndex(of: $0) }
        return index.map { "; did you mean '\(candidates[$0])'?" } ?? ""
    }

    /// Levenshtein's distance, where two swapped neighbours count as one difference (optimal string
    /// alignment): the number of insertions, deletions, replacements and swaps between two words.
    package static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.prefix(100))
        let right = Array(right.prefix(100))
        var before: [Int] = []
        var previous = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let isSame = left[row] == right[column]
                var best = min(
                    previous[column] + (isSame ? 0 : 1), previous[column + 1] + 1,
                    current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1],
                    left[row - 1] == right[column]
                {
                    best = min(best, before[column - 1] + 1)
                }
                current.append(best)
            }
            before = previous
            previous = current
        }
        return previous.last ?? left.count
    }
}

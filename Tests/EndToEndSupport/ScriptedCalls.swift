/// A Python program with two known functions: `caller` calls `leaf`, which computes.
package enum ScriptedCalls {
    package static let words = [
        "python3", "-c",
        """
        def leaf(n): return sum(i * i for i in range(n))
        def caller():
            for _ in range(100): leaf(10000)
        caller()
        """,
    ]
}

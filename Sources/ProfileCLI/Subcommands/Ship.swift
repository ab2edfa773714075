import ClickHouse

/// `firstlight ship`.
enum ShipCommand {
    /// Ships, and returns the exit status: 1 if something could not be read or written.
    static func run(_ options: ShipOptions, _ console: Console) -> Int32 {
        do throws(Reading.Failure) {
            var run = ShipRun(options, to: try StoreAccess.store(at: options.store), console)
            do throws(StoreError) {
                try run.run()
            } catch {
                throw Reading.Failure(StoreAccess.words(error, options.store) + run.unsent)
            }
            return run.isIncomplete ? 1 : 0
        } catch {
            console.complain(error.message)
            return 1
        }
    }
}

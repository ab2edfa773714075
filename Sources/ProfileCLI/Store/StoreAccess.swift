import ClickHouse
import Glibc
import ProfileModel
import Shipping

/// A store, with the credentials of the environment.
enum StoreAccess {
    static func store(at address: StoreAddress) throws(Reading.Failure) -> Store {
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        let credentials = Store.Credentials(
            user: variable("CLICKHOUSE_USER"), password: variable("CLICKHOUSE_PASSWORD"))
        guard
            let store = Store(
                address, credentials,
                pause: { usleep(useconds_t(clamping: max($0.nanoseconds, 0) / 1_000)) })
        else {
            throw Reading.Failure(
                "CLICKHOUSE_USER and CLICKHOUSE_PASSWORD must be one line of visible characters"
            )
        }
        return store
    }

    /// The answer of a store that has our tables.
    static func asked<Value>(
        _ address: StoreAddress, _ question: (Store) throws(StoreError) -> Value
    ) throws(Reading.Failure) -> Value {
        let store = try store(at: address)
        do throws(StoreError) {
            try store.checkSchema()
            return try question(store)
        } catch {
            throw Reading.Failure(words(error, address))
        }
    }

    /// One line. A server's text may contain any characters.
    static func words(_ error: StoreError, _ address: StoreAddress) -> String {
        Console.oneLine("\(address): \(error.description)")
    }
}

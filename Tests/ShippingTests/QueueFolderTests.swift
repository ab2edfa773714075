import Shipping
import Testing

@Suite struct QueueFolderTests {
    private func folder(_ address: String, _ variables: [String: String]) throws -> String? {
        DiskQueue.folder(for: try WebAddress(address, standardPort: 4318)) { variables[$0] }
    }

    @Test func theUsersFolders() throws {
        let state = try #require(
            try folder("http://host:4318/v1/metrics", ["XDG_STATE_HOME": "/state", "HOME": "/h"]))
        #expect(state.hasPrefix("/state/firstlight/otlp/host-"))
        let home = try #require(try folder("http://host:4318/v1/metrics", ["HOME": "/h"]))
        #expect(home.hasPrefix("/h/.local/state/firstlight/otlp/host-"))
        #expect(try folder("http://host:4318/v1/metrics", [:]) == nil)
        // A relative one is invalid by the specification of XDG's base directories.
        #expect(try folder("http://host/", ["XDG_STATE_HOME": "state"]) == nil)
    }

    @Test func eachServerHasItsOwn() throws {
        let folders = try ["http://a/", "http://b/", "http://a:1/", "http://a/x"].map {
            try folder($0, ["HOME": "/h"])
        }
        #expect(Set(folders).count == 4)
    }
}

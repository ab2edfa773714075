import CSQLite
import ProfileModel
import Recording
import TestSupport
import Testing

/// Measurements are kept for years: what version 1 of their schema wrote, as it was declared then,
/// can be read.
@Suite struct OldMeasurementTests {
    /// Never to be changed. A later version gets a text of its own.
    private static let version1 = """
        PRAGMA application_id = 1179404116;
        PRAGMA user_version = 65537;
        CREATE TABLE measurement(id INTEGER PRIMARY KEY, requested INTEGER NOT NULL, \
        version_name TEXT, recorder_version TEXT NOT NULL, date_ns INTEGER NOT NULL, \
        ending TEXT NOT NULL);
        CREATE TABLE conditions(id INTEGER PRIMARY KEY, cache TEXT NOT NULL, network TEXT, \
        disk_rate INTEGER);
        CREATE TABLE until(id INTEGER PRIMARY KEY, condition TEXT NOT NULL);
        CREATE TABLE machine(id INTEGER PRIMARY KEY, host TEXT NOT NULL, kernel TEXT NOT NULL, \
        architecture TEXT NOT NULL, processor TEXT NOT NULL, cores INTEGER NOT NULL, \
        memory INTEGER NOT NULL, governor TEXT, boot TEXT);
        CREATE TABLE arms(id INTEGER PRIMARY KEY, path TEXT NOT NULL);
        CREATE TABLE arguments(id INTEGER PRIMARY KEY, arm INTEGER NOT NULL, value TEXT NOT NULL);
        CREATE TABLE launches(id INTEGER PRIMARY KEY, arm INTEGER NOT NULL, \
        start_ns INTEGER NOT NULL, discarded TEXT, wall_ns INTEGER NOT NULL, \
        held_ns INTEGER NOT NULL, cpu_ns INTEGER, main_blocked_ns INTEGER, minor_faults INTEGER, \
        major_faults INTEGER, read_bytes INTEGER, cached_bytes INTEGER, file_bytes INTEGER, \
        other_work_ns INTEGER, stolen_ns INTEGER, frequency_khz INTEGER, outcome TEXT, \
        outcome_value INTEGER, ready_by TEXT, output TEXT NOT NULL);
        CREATE TABLE phases(id INTEGER PRIMARY KEY, launch INTEGER NOT NULL, name TEXT NOT NULL, \
        wall_ns INTEGER NOT NULL, cpu_ns INTEGER);
        INSERT INTO measurement VALUES(0, 1, '1.4', '0.1.0', 1795544575665496855, 'complete');
        INSERT INTO conditions VALUES(0, 'warm', NULL, NULL);
        INSERT INTO until VALUES(0, 'window');
        INSERT INTO machine VALUES(0, 'vm', '6.1', 'x86_64', 'any', 2, 1073741824, NULL, 'b');
        INSERT INTO arms VALUES(0, '/usr/bin/true');
        INSERT INTO arguments VALUES(0, 0, 'true');
        INSERT INTO launches VALUES(0, 0, 5, NULL, 4892077, 700, 600, 0, 43, 0, 0, NULL, NULL, \
        NULL, NULL, NULL, 'exited', 0, NULL, '');
        INSERT INTO phases VALUES(0, 0, 'Process creation', 4000000, 188721);
        INSERT INTO phases VALUES(1, 0, 'Main', 892077, NULL);
        """

    @Test func version1IsRead() throws {
        let scratch = try Scratch()
        let path = scratch.path("old")
        var database: OpaquePointer?
        #expect(sqlite3_open(path, &database) == SQLITE_OK)
        #expect(sqlite3_exec(database, Self.version1, nil, nil, nil) == SQLITE_OK)
        #expect(sqlite3_close(database) == SQLITE_OK)
        let measurement = try MeasurementReader.load(path: path)
        #expect(measurement.header.versionName == "1.4")
        #expect(measurement.header.date == 1_795_544_575_665_496_855)
        #expect(measurement.conditions == MeasuredConditions(until: ["window"]))
        #expect(measurement.machine.boot == "b" && measurement.machine.governor == nil)
        #expect(measurement.arms == [MeasuredArm(command: ["true"], path: "/usr/bin/true")])
        let launch = try #require(measurement.launches.first)
        #expect(launch.processes == nil)
        #expect(measurement.launches.count == 1)
        #expect(launch.wall == TimeSpan(nanoseconds: 4_892_077) && launch.minorFaults == 43)
        #expect(launch.phases.map(\.name) == ["Process creation", "Main"])
    }
}

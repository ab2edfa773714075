-- Launches of a fleet in ClickHouse (24.10 or newer). docs/fleet.md explains it.
--
-- `firstlight ship --to http://HOST:8123/DB --create-tables` runs this: statements end with a
-- semicolon at the end of a line, and each may be run again. Whoever has other wishes (replication,
-- storage, a time to live) runs a version of his own first: what is there is left as it is.
--
-- All rows may come twice: by their key the last one counts. So questions say FINAL.

-- One measurement or recording. It is written last: what it belongs to is there then.
CREATE TABLE IF NOT EXISTS sessions (
    -- A fingerprint of what the file is of: the same file gives the same one, wherever it lies.
    session UInt64,
    kind Enum8('measurement' = 1, 'recording' = 2),
    -- When a measurement began; when a recording was written. By that machine's clock.
    date DateTime64(9, 'UTC'),
    file String,
    -- The last part of the program's path.
    program LowCardinality(String),
    path String,
    arguments Array(String),
    -- The first word of its command, as it was given.
    called String,
    -- The program's build id in hexadecimal digits; empty: not known.
    build String,
    -- As `--version-name` named it; NULL: nobody did.
    version Nullable(String),
    -- Conditions. Of recordings they are not known, and empty.
    cache LowCardinality(String),
    network Nullable(String),
    disk_rate Nullable(Int64),
    -- Without the program's end, ordered.
    until Array(String),
    -- As they were given.
    until_given Array(String),
    -- The machine. Of recordings it is not known: empty, and 0.
    host LowCardinality(String),
    kernel LowCardinality(String),
    architecture LowCardinality(String),
    processor LowCardinality(String),
    cores Int64,
    memory Int64,
    governor Nullable(String),
    boot Nullable(String),
    -- firstlight's version.
    recorder LowCardinality(String),
    -- How many launches were to count; of recordings 1.
    requested Int64,
    ending LowCardinality(String),
    -- Of two states of a measurement the later one counts: twice the number of all its launches, and one
    -- more when it is over.
    progress UInt64,
    -- How many launches count.
    launches UInt32,
    -- Their wall times in nanoseconds, ascending; of more than 2,000 as many evenly spaced ones.
    walls Array(Int64),
    -- The median of each phase in nanoseconds, in the order in which phases first appear.
    phase_names Array(String),
    phase_medians Array(Float64),
    -- Of recordings: a signal or another status than 0 ended the program.
    failed Bool,
    -- What ended the launch (`--until`); NULL: the program's end.
    ready_by Nullable(String),
    -- Of recordings: how stacks were taken, "signal 1000"; else empty.
    capture LowCardinality(String)
) ENGINE = ReplacingMergeTree(progress)
PARTITION BY toYYYYMM(date)
ORDER BY (kind, program, session);

-- One launch, also those that do not count.
CREATE TABLE IF NOT EXISTS launches (
    program LowCardinality(String),
    session UInt64,
    -- Its number in the session, from 0.
    launch UInt32,
    date DateTime64(9, 'UTC'),
    -- Of a measurement of two programs: 1 is what the first is held against, and may be another one.
    arm UInt8,
    path String,
    build String,
    version Nullable(String),
    host LowCardinality(String),
    kernel LowCardinality(String),
    architecture LowCardinality(String),
    processor LowCardinality(String),
    cores Int64,
    cache LowCardinality(String),
    until Array(String),
    -- As of its session.
    arguments Array(String),
    network Nullable(String),
    disk_rate Nullable(Int64),
    -- Why it does not count: "first", "warm", "failed", "other_status", "hung", "not_ready",
    -- "interrupted", "recorded"; empty: it counts.
    discarded LowCardinality(String),
    -- "exited 0", "signalled 9", "running", "unknown".
    outcome LowCardinality(String),
    ready_by Nullable(String),
    -- Nanoseconds.
    wall Int64,
    cpu Nullable(Int64),
    main_blocked Nullable(Int64),
    minor_faults Nullable(Int64),
    major_faults Nullable(Int64),
    read_bytes Nullable(Int64),
    -- In the order of time; walls add up to `wall`.
    phase_names Array(LowCardinality(String)),
    phase_walls Array(Int64),
    phase_cpus Array(Nullable(Int64))
) ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(date)
ORDER BY (program, session, launch);

-- What things cost a recorded launch, in all (phase is empty) and in each phase. The arrays are of one
-- length, an element each for every thing, but for the last two.
CREATE TABLE IF NOT EXISTS costs (
    program LowCardinality(String),
    phase LowCardinality(String),
    session UInt64,
    date DateTime64(9, 'UTC'),
    build String,
    -- Of the launch, or of the phase, in nanoseconds.
    wall Int64,
    things Array(UInt64),
    -- The main thread's, in nanoseconds: a function's own, and with what it called.
    own_walls Array(Int64),
    own_cpus Array(Int64),
    own_blocked Array(Int64),
    total_walls Array(Int64),
    total_cpus Array(Int64),
    total_blocked Array(Int64),
    -- Waits, or an initialiser's runs.
    counts Array(Int64),
    -- Of libraries: it is known what they cost; their code was seen in use.
    known Array(Bool),
    used Array(Bool),
    -- What was waited for, of those things of which that is known: two arrays of one length.
    detailed Array(UInt64),
    details Array(String)
) ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(date)
ORDER BY (program, phase, session);

-- What things are called. They are the same in all builds and recordings.
CREATE TABLE IF NOT EXISTS things (
    program LowCardinality(String),
    thing UInt64,
    -- Of the launch that names it: the last one's names count.
    date DateTime64(9, 'UTC'),
    kind Enum8('function' = 1, 'wait' = 2, 'initializer' = 3, 'library' = 4, 'process' = 5),
    -- The function; of a wait the one to look at; of a library its file.
    name String,
    module String,
    is_own Bool,
    -- Of a wait; empty: it is none.
    reason LowCardinality(String),
    -- Of a wait: NULL: the main thread.
    thread Nullable(String),
    -- Where in the source; NULL: not known.
    file Nullable(String),
    line Nullable(Int32)
) ENGINE = ReplacingMergeTree(date)
ORDER BY (program, thing);

-- How long each stack was seen in a recorded launch. The arrays are of one length.
CREATE TABLE IF NOT EXISTS stacks (
    program LowCardinality(String),
    build String,
    session UInt64,
    date DateTime64(9, 'UTC'),
    phase LowCardinality(String),
    thread_class Enum8('main' = 1, 'other' = 2),
    stacks Array(UInt64),
    -- Nanoseconds.
    walls Array(Int64),
    cpus Array(Int64),
    blocked Array(Int64)
) ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(date)
ORDER BY (program, build, session, phase, thread_class);

-- The frames of stacks, once for each build: things of kind function, callers first.
CREATE TABLE IF NOT EXISTS frames (
    program LowCardinality(String),
    build String,
    stack UInt64,
    things Array(UInt64)
) ENGINE = ReplacingMergeTree
ORDER BY (program, build, stack);

-- Typical and slow launches of each version, day and kind of machine. The 90th percentile is the
-- smallest wall time that nine in ten launches do not exceed, as everywhere; quantileExactLow is the
-- next greater one where a tenth of them is a whole number, and quantileExactWeighted takes ten times the
-- memory.
CREATE MATERIALIZED VIEW IF NOT EXISTS daily REFRESH EVERY 1 HOUR
ENGINE = MergeTree ORDER BY (program, day) SETTINGS allow_nullable_key = 1
AS SELECT
    program, toDate(date) AS day, version, architecture, processor, cores, kernel, cache, until,
    arguments, network, disk_rate, count() AS launches,
    quantileExactInclusive(0.5)(wall) AS median,
    arraySort(groupArray(wall))[intDiv(count() * 9 + 9, 10)] AS percentile90
FROM launches FINAL
WHERE discarded = '' AND arm = 0
GROUP BY ALL;

-- What change points are looked for in: the median of each version, in the order of their first day.
CREATE MATERIALIZED VIEW IF NOT EXISTS version_medians REFRESH EVERY 1 HOUR
ENGINE = MergeTree ORDER BY (program, first_date) SETTINGS allow_nullable_key = 1
AS SELECT
    program, version, architecture, processor, cores, kernel, cache, until,
    arguments, network, disk_rate,
    min(date) AS first_date, max(date) AS last_date, uniqExact(host) AS machines,
    count() AS launches, quantileExactInclusive(0.5)(wall) AS median
FROM launches FINAL
WHERE discarded = '' AND arm = 0 AND isNotNull(version)
GROUP BY ALL;

-- What functions cost a launch of each build.
CREATE MATERIALIZED VIEW IF NOT EXISTS top_functions REFRESH EVERY 1 HOUR
ENGINE = MergeTree ORDER BY (program, build, own_mean)
AS SELECT
    cost.program AS program, cost.build AS build, thing.name AS name, thing.module AS module,
    any(built.launches) AS launches, count() AS seen,
    sum(cost.own) / launches AS own_mean, sum(cost.total) / launches AS total_mean
FROM (
    SELECT program, build, thing, own, total FROM costs FINAL
    ARRAY JOIN things AS thing, own_walls AS own, total_walls AS total
    WHERE phase = ''
) AS cost
INNER JOIN (
    SELECT program, thing, name, module FROM things FINAL WHERE kind = 'function'
) AS thing ON thing.program = cost.program AND thing.thing = cost.thing
INNER JOIN (
    SELECT program, build, count() AS launches FROM costs FINAL WHERE phase = ''
    GROUP BY program, build
) AS built ON built.program = cost.program AND built.build = cost.build
GROUP BY cost.program, cost.build, thing.name, thing.module;

-- One launch against all of its version on the same kind of machine:
-- SELECT * FROM launch_in_population(session = 1, launch = 0)
CREATE VIEW IF NOT EXISTS launch_in_population AS
SELECT
    one.program AS program, one.version AS version, one.wall AS wall,
    count() AS launches, countIf(other.wall < one.wall) / launches AS share_faster,
    quantileExactInclusive(0.5)(other.wall) AS median,
    arraySort(groupArray(other.wall))[intDiv(count() * 9 + 9, 10)] AS percentile90
FROM (
    SELECT * FROM launches FINAL WHERE session = {session:UInt64} AND launch = {launch:UInt32}
) AS one
INNER JOIN (SELECT * FROM launches FINAL WHERE discarded = '') AS other
    ON one.program = other.program AND one.arm = other.arm AND one.cores = other.cores
    AND one.architecture = other.architecture AND one.processor = other.processor
    AND one.kernel = other.kernel AND one.cache = other.cache AND one.until = other.until
    AND one.arguments = other.arguments
WHERE one.version IS NOT DISTINCT FROM other.version
    AND one.network IS NOT DISTINCT FROM other.network
    AND one.disk_rate IS NOT DISTINCT FROM other.disk_rate
GROUP BY program, version, wall;

-- What firstlight asks before it writes or reads: last, for all else is there then.
CREATE VIEW IF NOT EXISTS schema AS SELECT toUInt32(1) AS version;

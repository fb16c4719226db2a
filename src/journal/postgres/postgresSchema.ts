/** The tables of journals in PostgreSQL, and the statements that write them. Amounts are texts of integers; records are text, since their hash is of it. */

/** The version of the tables that this perpd writes and reads. */
export const POSTGRES_SCHEMA_VERSION = 1

/** A number of our own for the lock under which tables are made: "perp" in ASCII. */
const MAKING_LOCK = 0x70657270

/** All tables. */
const tableNames = [
  'perpd_head',
  'perpd_record',
  'perpd_intent',
  'perpd_ending',
  'perpd_signed',
  'perpd_snapshot',
  'perpd_part',
] as const

/** Tells whether nothing has to be made. */
export const readIsMade = `SELECT to_regclass('perpd_part') IS NOT NULL AND 2 = (SELECT count(*) FROM pg_attribute
  WHERE attrelid = to_regclass('perpd_head') AND attname IN ('since_ms', 'history')) AS is_made`

/** Makes all tables, once, whoever comes first. */
export const createStatements = `
  SELECT pg_advisory_xact_lock(${MAKING_LOCK});
  CREATE TABLE IF NOT EXISTS perpd_head (
    account text PRIMARY KEY, version integer NOT NULL, epoch bigint NOT NULL, holder text NOT NULL,
    beat bigint NOT NULL, seq bigint NOT NULL, hash text NOT NULL, since_ms bigint, history text
  ) WITH (fillfactor = 50);
  ALTER TABLE perpd_head ADD COLUMN IF NOT EXISTS since_ms bigint;
  ALTER TABLE perpd_head ADD COLUMN IF NOT EXISTS history text;
  CREATE TABLE IF NOT EXISTS perpd_record (
    account text NOT NULL, seq bigint NOT NULL, at_ms bigint NOT NULL, intent_id text NOT NULL, kind text NOT NULL,
    attempt integer, body text NOT NULL, hash text NOT NULL, PRIMARY KEY (account, seq)
  );
  CREATE INDEX IF NOT EXISTS perpd_record_of_intent ON perpd_record (account, intent_id, seq);
  CREATE TABLE IF NOT EXISTS perpd_intent (
    account text NOT NULL, seq bigint NOT NULL, intent_id text NOT NULL, strategy text NOT NULL,
    accepted_at_ms bigint NOT NULL, open boolean NOT NULL, PRIMARY KEY (account, seq), UNIQUE (account, intent_id)
  );
  CREATE INDEX IF NOT EXISTS perpd_intent_open ON perpd_intent (account, seq) WHERE open;
  CREATE TABLE IF NOT EXISTS perpd_ending (
    account text NOT NULL, seq bigint NOT NULL, closed_at_ms bigint NOT NULL, strategy text NOT NULL, kind text NOT NULL,
    market_token text NOT NULL, direction text NOT NULL, cause text NOT NULL, execution_fee text NOT NULL,
    relay_fee text NOT NULL, PRIMARY KEY (account, seq)
  );
  CREATE INDEX IF NOT EXISTS perpd_ending_time ON perpd_ending (account, closed_at_ms);
  CREATE TABLE IF NOT EXISTS perpd_signed (
    router text NOT NULL, digest text NOT NULL, account text NOT NULL, intent_id text NOT NULL, attempt integer NOT NULL,
    deadline_seconds bigint NOT NULL, adds_usd text NOT NULL, at_seconds bigint NOT NULL, PRIMARY KEY (router, digest)
  );
  CREATE INDEX IF NOT EXISTS perpd_signed_of_account ON perpd_signed (account, deadline_seconds);
  CREATE TABLE IF NOT EXISTS perpd_snapshot (
    account text PRIMARY KEY, seq bigint NOT NULL, sum text NOT NULL, body text NOT NULL
  );
  CREATE TABLE IF NOT EXISTS perpd_part (
    account text NOT NULL, to_seq bigint NOT NULL, from_seq bigint NOT NULL, sum text NOT NULL, body text NOT NULL,
    PRIMARY KEY (account, to_seq)
  );`

/** Fields of a head. */
const headColumns = 'version, epoch, holder, beat, seq, hash, since_ms'

/** The server's clock, for people alone. */
const serverMs = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** The server by its identifier: a dump that is restored elsewhere has another. */
const serverId = '(SELECT system_identifier::text FROM pg_control_system())'

/** The history of the newest commit on one server alone: a failover, and a recovery to a time, begin another. */
const ownHistory = `${serverId} || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`

/** The history of commits that a second server has each: a failover loses none of them. */
const sharedHistory = `${serverId} || '/*'`

/** True where the newest records may have been lost with another server. Null, of heads that say no history, is false. */
const mayMissRecords = `coalesce(history NOT IN (${ownHistory}, ${sharedHistory}), false)`

/** The condition under which a writer may move the head: right and end of the chain together. */
const atHead = 'account = $1 AND epoch = $2 AND holder = $3 AND seq = $4 AND hash = $5'

/** Reads the head of $1. */
export const readHead = `SELECT ${headColumns} FROM perpd_head WHERE account = $1`

/** Makes the head of $1, without a holder. */
export const makeHead = `INSERT INTO perpd_head (account, version, epoch, holder, beat, seq, hash)
  VALUES ($1, ${POSTGRES_SCHEMA_VERSION}, 0, '', 0, 0, '') ON CONFLICT (account) DO NOTHING`

/**
 * Gives the right of $1 from epoch $2, holder $3 and beat $4 to epoch $5 and holder $6; $7: each commit waits for a second server. A history that may
 * lack records stays as it is until the new holder has written: a holder that dies before it has noted the doubt leaves it to the next.
 */
export const takeHead = `UPDATE perpd_head SET epoch = $5, holder = $6, beat = beat + 1, since_ms = ${serverMs},
  history = CASE WHEN ${mayMissRecords} THEN history WHEN $7::boolean THEN ${sharedHistory} ELSE ${ownHistory} END
  WHERE account = $1 AND epoch = $2 AND holder = $3 AND beat = $4`

/** One beat of $1 by epoch $2 and holder $3. */
export const beatHead = `UPDATE perpd_head SET beat = beat + 1
  WHERE account = $1 AND epoch = $2 AND holder = $3 RETURNING ${headColumns}, ${mayMissRecords} AS may_miss`

/** Gives the right of $1 back that epoch $2 and holder $3 have. */
export const releaseHead = `UPDATE perpd_head SET holder = '', beat = beat + 1, since_ms = ${serverMs}
  WHERE account = $1 AND epoch = $2 AND holder = $3`

/**
 * Moves the head to $6 and $7 and writes all that comes with it, or nothing at all. Arrays: records $8 to $14, intents $15 to $19, closed intents
 * $20, endings $21 to $29, lines of the guard $30 to $36.
 */
export const appendRecords = `WITH moved AS (
    UPDATE perpd_head SET seq = $6, hash = $7, beat = beat + 1,
      history = CASE WHEN history = ${sharedHistory} THEN history ELSE ${ownHistory} END WHERE ${atHead} RETURNING 1
  ), records AS (
    INSERT INTO perpd_record (account, seq, at_ms, intent_id, kind, attempt, body, hash)
    SELECT $1, r.* FROM moved, unnest($8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::integer[], $13::text[],
      $14::text[]) AS r
  ), intents AS (
    INSERT INTO perpd_intent (account, seq, intent_id, strategy, accepted_at_ms, open)
    SELECT $1, i.* FROM moved, unnest($15::bigint[], $16::text[], $17::text[], $18::bigint[], $19::boolean[]) AS i
  ), closed AS (
    UPDATE perpd_intent SET open = false FROM moved WHERE account = $1 AND intent_id = ANY($20::text[])
  ), endings AS (
    INSERT INTO perpd_ending (account, seq, closed_at_ms, strategy, kind, market_token, direction, cause,
      execution_fee, relay_fee)
    SELECT $1, e.* FROM moved, unnest($21::bigint[], $22::bigint[], $23::text[], $24::text[], $25::text[], $26::text[],
      $27::text[], $28::text[], $29::text[]) AS e
  ), signed AS (
    INSERT INTO perpd_signed (account, router, digest, intent_id, attempt, deadline_seconds, adds_usd, at_seconds)
    SELECT $1, s.* FROM moved, unnest($30::text[], $31::text[], $32::text[], $33::integer[], $34::bigint[], $35::text[],
      $36::bigint[]) AS s
  ) SELECT count(*)::integer AS moved FROM moved`

/** Keeps a snapshot at the head: sum $6 and text $7 of its head, $8 and $9 of its part, which begins behind $10. */
export const keepSnapshot = `WITH held AS (
    SELECT 1 FROM perpd_head WHERE ${atHead} FOR UPDATE
  ), cleared AS (
    DELETE FROM perpd_part USING held WHERE account = $1 AND $10::bigint = 0 AND to_seq <> $4::bigint
  ), head AS (
    INSERT INTO perpd_snapshot (account, seq, sum, body) SELECT $1, $4, $6, $7 FROM held
    ON CONFLICT (account) DO UPDATE SET seq = EXCLUDED.seq, sum = EXCLUDED.sum, body = EXCLUDED.body
  ), part AS (
    INSERT INTO perpd_part (account, to_seq, from_seq, sum, body)
    SELECT $1, $4, $10, $8, $9 FROM held WHERE $10::bigint <> $4::bigint
    ON CONFLICT (account, to_seq) DO UPDATE SET from_seq = EXCLUDED.from_seq, sum = EXCLUDED.sum, body = EXCLUDED.body
  ) SELECT count(*)::integer AS moved FROM held`

/** Reads the snapshot of $1, its head first, each with the hash of its record. */
export const readSnapshot = `SELECT 0 AS from_seq, s.seq AS to_seq, s.sum, s.body, r.hash, true AS is_head
  FROM perpd_snapshot s LEFT JOIN perpd_record r ON r.account = s.account AND r.seq = s.seq WHERE s.account = $1
  UNION ALL SELECT p.from_seq, p.to_seq, p.sum, p.body, r.hash, false
  FROM perpd_part p LEFT JOIN perpd_record r ON r.account = p.account AND r.seq = p.to_seq WHERE p.account = $1
  ORDER BY is_head DESC, to_seq`

/** Reads records of $1 after $2, at most $3. */
export const readRecords = `SELECT seq, intent_id, body, hash, NULL AS previous_hash FROM perpd_record
  WHERE account = $1 AND seq > $2 ORDER BY seq LIMIT $3`

/** Reads the records of the intents $2. */
export const readStories = `SELECT r.seq, r.intent_id, r.body, r.hash, p.hash AS previous_hash FROM perpd_record r
  LEFT JOIN perpd_record p ON p.account = r.account AND p.seq = r.seq - 1
  WHERE r.account = $1 AND r.intent_id = ANY($2::text[]) ORDER BY r.seq`

/** Reads ids of intents: of strategy $2 where it is not null, open ones where $3, at most $4. */
export const readIntentIds = `SELECT intent_id FROM perpd_intent WHERE account = $1
  AND ($2::text IS NULL OR strategy = $2) AND (NOT $3::boolean OR open) ORDER BY seq DESC LIMIT $4`

/** Reads ends of intents since $2. */
export const readEndings = 'SELECT * FROM perpd_ending WHERE account = $1 AND closed_at_ms >= $2 ORDER BY seq'

/** Reads lines of the guard since $2. */
export const readSigned = `SELECT * FROM perpd_signed WHERE account = $1
  AND (deadline_seconds >= $2 OR at_seconds >= $2) ORDER BY at_seconds, intent_id, attempt`

/** Reads how many standbys follow the server, whether a commit waits for one, and what the nearest of them lacks. A backup that runs is none. */
export const readReplication = `SELECT current_setting('synchronous_standby_names') <> '' AS is_synchronous,
  count(*)::integer AS standbys, min(pg_wal_lsn_diff(pg_current_wal_flush_lsn(), flush_lsn))::bigint AS lag_bytes
  FROM pg_stat_replication WHERE state IS DISTINCT FROM 'backup'`

/** Begins a view of one moment: whatever is written meanwhile, all later reads of the session see what is there now. */
export const beginView = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

/** Tells whether $1 has a journal here, and how many bytes the tables of all accounts take. */
export const readSize = `SELECT sum(pg_total_relation_size(c.oid))::bigint AS bytes FROM pg_class c
  WHERE c.oid IN (${tableNames.map((table) => `to_regclass('${table}')`).join(', ')})`

/** Reads the number of records, intents and open intents of $1, of its endings, its lines of the guard, and its records of the account ($2). */
export const readCounts = `SELECT (SELECT count(*) FROM perpd_intent WHERE account = $1)::integer AS intents,
  (SELECT count(*) FROM perpd_intent WHERE account = $1 AND open)::integer AS open_intents,
  (SELECT count(*) FROM perpd_ending WHERE account = $1)::integer AS endings,
  (SELECT count(*) FROM perpd_signed WHERE account = $1)::integer AS signed,
  (SELECT count(*) FROM perpd_record WHERE account = $1 AND intent_id = $2)::integer AS account`

/** Reads records of $1 after $2 with all columns, at most $3: those since $4, of intents whose id begins with $5 where it is not null. */
export const readWholeRecords = `SELECT seq, at_ms, intent_id, kind, attempt, body, hash FROM perpd_record
  WHERE account = $1 AND seq > $2 AND at_ms >= $4 AND ($5::text IS NULL OR starts_with(intent_id, $5)) ORDER BY seq LIMIT $3`

/** Counts the records of $1 since $2, of intents whose id begins with $3 where it is not null. */
export const countRecords = `SELECT count(*)::integer AS records FROM perpd_record
  WHERE account = $1 AND at_ms >= $2 AND ($3::text IS NULL OR starts_with(intent_id, $3))`

/** Reads what is kept of the intents $2, which were closed by the records $3 (null: open). */
export const readIntentRows = `SELECT (SELECT count(*) FROM perpd_record r WHERE r.account = $1 AND r.intent_id = due.id)::integer AS records,
  to_jsonb(i) AS intent, to_jsonb(e) AS ending FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS due(id, closed, place)
  LEFT JOIN perpd_intent i ON i.account = $1 AND i.intent_id = due.id
  LEFT JOIN perpd_ending e ON e.account = $1 AND e.seq = due.closed ORDER BY due.place`

/** Reads the keys of all tables: what keeps a record, an intent or a signature from being there twice. */
export const readKeys = `SELECT conrelid::regclass::text AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
  WHERE contype IN ('p', 'u') AND conrelid IN (${tableNames.map((table) => `to_regclass('${table}')`).join(', ')})`

/** The keys of each table, as the server words them. */
export const tableKeys: Readonly<Record<(typeof tableNames)[number], readonly string[]>> = {
  perpd_head: ['PRIMARY KEY (account)'],
  perpd_record: ['PRIMARY KEY (account, seq)'],
  perpd_intent: ['PRIMARY KEY (account, seq)', 'UNIQUE (account, intent_id)'],
  perpd_ending: ['PRIMARY KEY (account, seq)'],
  perpd_signed: ['PRIMARY KEY (router, digest)'],
  perpd_snapshot: ['PRIMARY KEY (account)'],
  perpd_part: ['PRIMARY KEY (account, to_seq)'],
}

-- Format 1. Times are microseconds since 1970-01-01T00:00:00Z. A crc is CRC-32C over the row's other columns.
-- Tables are rowid tables and a body is the last column of its row, both on purpose: indexes stay small, and a
-- header is read without the pages of its body.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value BLOB NOT NULL                       -- format, store_id, commit_no: decimal digits or text, as bytes
);

-- What senders change.
CREATE TABLE session (
  sid                INTEGER PRIMARY KEY,
  name               TEXT    NOT NULL UNIQUE,
  admission          INTEGER NOT NULL,      -- 0 open, 1 not now, 2 closed for good, 3 deleted (a tombstone)
  admission_reason   TEXT    NOT NULL,
  unread_limit       INTEGER NOT NULL,
  unread_bytes_limit INTEGER NOT NULL,
  last_arrival       INTEGER NOT NULL,      -- the highest number given
  ordinary           INTEGER NOT NULL,      -- arrivals of counted kinds accepted, ever
  ordinary_bytes     INTEGER NOT NULL,
  ready_at           INTEGER                -- durable wake; NULL: nothing unread
);
CREATE INDEX session_ready ON session(ready_at) WHERE ready_at IS NOT NULL;

-- What was sent.
CREATE TABLE arrival (
  sid         INTEGER NOT NULL,
  no          INTEGER NOT NULL,             -- from 1, without gaps
  message_id  BLOB    NOT NULL,             -- 16 bytes, given by the host
  kind        INTEGER NOT NULL,
  urgent      INTEGER NOT NULL,
  key_hash    BLOB,                         -- SHA-256 of the sender's key
  fingerprint BLOB    NOT NULL,             -- of what the sender meant
  accepted_at INTEGER NOT NULL,
  bound_turn  INTEGER,                      -- urgent kinds: the turn open at acceptance
  bound_after INTEGER NOT NULL,             -- urgent kinds: taken_through at acceptance; else 0
  header      BLOB    NOT NULL,
  bytes       INTEGER NOT NULL,             -- length of the body
  body_crc    INTEGER NOT NULL,             -- CRC-32C of the body, so that a header can be checked without it
  body_digest BLOB,                         -- SHA-256; present: the body lies in blob
  crc         INTEGER NOT NULL,
  body        BLOB,                         -- inline up to 64 KiB
  PRIMARY KEY (sid, no)
);
CREATE UNIQUE INDEX arrival_key    ON arrival(sid, key_hash) WHERE key_hash IS NOT NULL;
CREATE INDEX        arrival_urgent ON arrival(sid, no)       WHERE urgent = 1;

-- What the owner changes.
CREATE TABLE journal_head (
  sid                 INTEGER PRIMARY KEY,
  epoch               INTEGER NOT NULL,
  node                TEXT    NOT NULL,     -- who owned it last; empty: nobody yet
  seq                 INTEGER NOT NULL,
  batch_id            BLOB    NOT NULL,     -- 16 bytes, of the last append: a retry is recognised
  taken_through       INTEGER NOT NULL,     -- every arrival up to here is named by an event
  ordinary_done       INTEGER NOT NULL,
  ordinary_done_bytes INTEGER NOT NULL,
  due_at              INTEGER,              -- earliest durable deadline, rounded up
  open_turn           INTEGER,              -- what an unnamed cancel is bound to
  phase               TEXT    NOT NULL,
  phase_reason        TEXT    NOT NULL,
  turn_since          INTEGER,
  cost_micros         INTEGER,
  last_words          TEXT    NOT NULL
);
CREATE INDEX head_due   ON journal_head(due_at)    WHERE due_at IS NOT NULL;
CREATE INDEX head_turn  ON journal_head(open_turn) WHERE open_turn IS NOT NULL;
CREATE INDEX head_phase ON journal_head(phase, sid);

-- What the owner did.
CREATE TABLE journal (
  sid     INTEGER NOT NULL,
  seq     INTEGER NOT NULL,                 -- from 1, without gaps
  epoch   INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  type    TEXT    NOT NULL,
  version INTEGER NOT NULL,
  turn    INTEGER,
  crc     INTEGER NOT NULL,
  body    BLOB    NOT NULL,
  PRIMARY KEY (sid, seq)
);
CREATE TABLE snapshot (
  sid     INTEGER PRIMARY KEY,
  seq     INTEGER NOT NULL,
  version INTEGER NOT NULL,
  crc     INTEGER NOT NULL,
  body    BLOB    NOT NULL
);

-- Names under which a session is reached. A released one stays, so that whoever uses it is told so; who claims it
-- again takes the row over.
CREATE TABLE address (
  token       TEXT    PRIMARY KEY,
  sid         INTEGER NOT NULL,
  claimed_no  INTEGER NOT NULL,             -- order of claims within the session, from 1
  accepts     INTEGER NOT NULL,             -- bit n: takes arrivals of the kind with code n
  once        INTEGER NOT NULL,             -- 1: released by the first arrival it takes
  released_no INTEGER,                      -- NULL: claimed; else the last arrival accepted before it was given up
  crc         INTEGER NOT NULL
);
CREATE INDEX address_order   ON address(sid, claimed_no);
CREATE INDEX address_claimed ON address(sid, claimed_no) WHERE released_no IS NULL;

-- Bodies over 64 KiB, once per session and content.
CREATE TABLE blob (
  sid    INTEGER NOT NULL,
  digest BLOB    NOT NULL,                  -- SHA-256
  bytes  BLOB    NOT NULL,
  PRIMARY KEY (sid, digest)
);

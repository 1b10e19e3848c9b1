-- Format 1, the tables of sqlite/V1.sql and one more. Times are microseconds since 1970-01-01T00:00:00Z. A crc is
-- CRC-32C over the row's other columns. Text that somebody else wrote is UTF-8 in BYTEA, since TEXT refuses U+0000.
-- Rows that are updated all the time leave room in their page, so that an update need not touch the indexes.

CREATE TABLE meta (
  name  TEXT COLLATE "C" PRIMARY KEY,
  value BYTEA NOT NULL                      -- format, store_id: decimal digits or text, as bytes
);

-- What senders lock and change.
CREATE TABLE session (
  sid                BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name               TEXT COLLATE "C" NOT NULL UNIQUE,
  admission          BIGINT NOT NULL,       -- 0 open, 1 not now, 2 closed for good, 3 deleted (a tombstone)
  admission_reason   BYTEA  NOT NULL,
  unread_limit       BIGINT NOT NULL,
  unread_bytes_limit BIGINT NOT NULL,
  last_arrival       BIGINT NOT NULL,       -- the highest number given
  ordinary           BIGINT NOT NULL,       -- arrivals of counted kinds accepted, ever
  ordinary_bytes     BIGINT NOT NULL,
  ready_at           BIGINT                 -- durable wake; NULL: nothing unread
) WITH (fillfactor = 60);
CREATE INDEX session_ready ON session(ready_at) WHERE ready_at IS NOT NULL;

-- What was sent.
CREATE TABLE arrival (
  sid         BIGINT NOT NULL,
  no          BIGINT NOT NULL,              -- from 1, without gaps
  message_id  BYTEA  NOT NULL,              -- 16 bytes, given by the host
  kind        BIGINT NOT NULL,
  urgent      BIGINT NOT NULL,
  key_hash    BYTEA,                        -- SHA-256 of the sender's key
  fingerprint BYTEA  NOT NULL,              -- of what the sender meant
  accepted_at BIGINT NOT NULL,
  bound_turn  BIGINT,                       -- urgent kinds: the turn open at acceptance
  bound_after BIGINT NOT NULL,              -- urgent kinds: taken_through at acceptance; else 0
  header      BYTEA  NOT NULL,
  bytes       BIGINT NOT NULL,              -- length of the body
  body_crc    BIGINT NOT NULL,              -- CRC-32C of the body, so that a header can be checked without it
  body_digest BYTEA,                        -- SHA-256; present: the body lies in blob
  crc         BIGINT NOT NULL,
  body        BYTEA,                        -- inline up to 64 KiB
  PRIMARY KEY (sid, no)
);
CREATE UNIQUE INDEX arrival_key    ON arrival(sid, key_hash) WHERE key_hash IS NOT NULL;
CREATE INDEX        arrival_urgent ON arrival(sid, no)       WHERE urgent = 1;

-- What the owner locks and changes.
CREATE TABLE journal_head (
  sid                 BIGINT PRIMARY KEY,
  epoch               BIGINT NOT NULL,
  node                TEXT COLLATE "C" NOT NULL, -- who owns it; empty: nobody does
  seq                 BIGINT NOT NULL,
  batch_id            BYTEA  NOT NULL,      -- 16 bytes, of the last append: a retry is recognised
  taken_through       BIGINT NOT NULL,      -- every arrival up to here is named by an event
  ordinary_done       BIGINT NOT NULL,
  ordinary_done_bytes BIGINT NOT NULL,
  due_at              BIGINT,               -- earliest durable deadline, rounded up
  open_turn           BIGINT,               -- what an unnamed cancel is bound to
  phase               BYTEA  NOT NULL,
  phase_reason        BYTEA  NOT NULL,
  turn_since          BIGINT,
  cost_micros         BIGINT,
  last_words          BYTEA  NOT NULL
) WITH (fillfactor = 60);
CREATE INDEX head_due   ON journal_head(due_at)    WHERE due_at IS NOT NULL;
CREATE INDEX head_turn  ON journal_head(open_turn) WHERE open_turn IS NOT NULL;
CREATE INDEX head_phase ON journal_head(phase, sid);

-- What the owner did.
CREATE TABLE journal (
  sid     BIGINT NOT NULL,
  seq     BIGINT NOT NULL,                  -- from 1, without gaps
  epoch   BIGINT NOT NULL,
  at      BIGINT NOT NULL,
  type    BYTEA  NOT NULL,
  version BIGINT NOT NULL,
  turn    BIGINT,
  crc     BIGINT NOT NULL,
  body    BYTEA  NOT NULL,
  PRIMARY KEY (sid, seq)
);
CREATE TABLE snapshot (
  sid     BIGINT PRIMARY KEY,
  seq     BIGINT NOT NULL,
  version BIGINT NOT NULL,
  crc     BIGINT NOT NULL,
  body    BYTEA  NOT NULL
);

-- Names under which a session is reached. A released one stays, so that whoever uses it is told so; who claims it
-- again takes the row over.
CREATE TABLE address (
  token       BYTEA  PRIMARY KEY,
  sid         BIGINT NOT NULL,
  claimed_no  BIGINT NOT NULL,              -- order of claims within the session, from 1
  accepts     BIGINT NOT NULL,              -- bit n: takes arrivals of the kind with code n
  once        BIGINT NOT NULL,              -- 1: released by the first arrival it takes
  released_no BIGINT,                       -- NULL: claimed; else the last arrival accepted before it was given up
  crc         BIGINT NOT NULL
);
CREATE INDEX address_order   ON address(sid, claimed_no);
CREATE INDEX address_claimed ON address(sid, claimed_no) WHERE released_no IS NULL;

-- Bodies over 64 KiB, once per session and content.
CREATE TABLE blob (
  sid    BIGINT NOT NULL,
  digest BYTEA  NOT NULL,                   -- SHA-256
  bytes  BYTEA  NOT NULL,
  PRIMARY KEY (sid, digest)
);

-- Host processes that own sessions. Times are those of the server's clock.
CREATE TABLE node (
  node        TEXT COLLATE "C" PRIMARY KEY,
  incarnation BIGINT NOT NULL,              -- of a registration; a lease that ended is never prolonged
  lease_until BIGINT NOT NULL
) WITH (fillfactor = 60);

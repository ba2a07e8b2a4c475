-- SPDX-License-Identifier: Apache-2.0
-- Two records of a program whose store had version 1 of the tables (sqlite3 records.db .dump).
BEGIN TRANSACTION;
CREATE TABLE anchors ( node TEXT NOT NULL PRIMARY KEY, seq BIGINT NOT NULL, digest TEXT NOT NULL, removed BIGINT NOT NULL, removed_ms BIGINT NOT NULL);
CREATE TABLE chains ( node TEXT NOT NULL PRIMARY KEY, seq BIGINT NOT NULL, digest TEXT NOT NULL, records BIGINT NOT NULL, bytes BIGINT NOT NULL);
INSERT INTO "chains" VALUES('example',2,'23b879fd0b5860c148125c563dce27373f878dbfb1396118881eaf9bd9a1fed3',2,786);
CREATE TABLE files ( id TEXT NOT NULL PRIMARY KEY, state BIGINT NOT NULL, kind BIGINT NOT NULL, name TEXT NOT NULL, mime TEXT NOT NULL, sha256 TEXT NOT NULL, bytes BIGINT NOT NULL, blob TEXT NOT NULL, owner TEXT NOT NULL, conversation TEXT, session TEXT, run_id TEXT, node TEXT NOT NULL, writer TEXT NOT NULL, created_ms BIGINT NOT NULL, expires_ms BIGINT NOT NULL);
CREATE TABLE records ( node TEXT NOT NULL, seq BIGINT NOT NULL, run_id TEXT NOT NULL, started_ms BIGINT NOT NULL, owner TEXT NOT NULL, conversation TEXT, front_end TEXT, role TEXT, tool TEXT, session TEXT, cell BIGINT NOT NULL, profile TEXT, environment TEXT, code TEXT, code_sha256 TEXT, outcome TEXT NOT NULL, exit_code BIGINT NOT NULL, wall_us BIGINT NOT NULL, cpu_us BIGINT NOT NULL, queue_us BIGINT NOT NULL, peak_bytes BIGINT NOT NULL, level BIGINT NOT NULL, approval TEXT, more TEXT, bytes BIGINT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (node, seq));
INSERT INTO "records" VALUES('example',1,'01a227ec-f07a-7faf-abfa-3883146d6514',1795966169210,'uid:0',NULL,'cli','admin',NULL,NULL,0,'standard','system','print("kept from version 1")','20bce647875ce841858cfce60f825437e4d8ef76403011fd0c80fb7dc796ba87','ok',0,2196,263,1305495,262144,3,NULL,'{"limits":{},"output":{"stdout_bytes":20,"stderr_bytes":0,"stdout_kept":false,"stderr_kept":false}}',367,'19383ac99b234143494f8dbeb1ba9d61a51b35e3bf8e682d3b03d9777896e222');
INSERT INTO "records" VALUES('example',2,'01a227ec-f5c7-7433-b5f4-fe2211f316cb',1795966170567,'uid:0',NULL,'cli','admin',NULL,NULL,0,'standard','system','1/0','18d6e1cac2a8adaf25577cca14db7753507f4f03a288124ce9fe2d60babd7bb0','error',1,1623,1549,47,2138112,3,NULL,'{"limits":{},"output":{"stdout_bytes":0,"stderr_bytes":0,"stdout_kept":false,"stderr_kept":false},"error":{"type":"ZeroDivisionError","message":"division by zero","line":1}}',419,'23b879fd0b5860c148125c563dce27373f878dbfb1396118881eaf9bd9a1fed3');
CREATE TABLE schema_version (version BIGINT NOT NULL);
INSERT INTO "schema_version" VALUES(1);
CREATE TABLE settings (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE UNIQUE INDEX records_run ON records (run_id);
CREATE INDEX records_time ON records (started_ms, run_id);
CREATE INDEX records_owner ON records (owner, started_ms, run_id);
CREATE INDEX files_owner ON files (owner, id, state, bytes);
CREATE INDEX files_run ON files (run_id);
CREATE INDEX files_expiry ON files (expires_ms);
CREATE INDEX files_unsettled ON files (state) WHERE state <> 1;
COMMIT;

pragma application_id = 0;
pragma user_version = 0;
begin;
CREATE TABLE mark (
  machine text not null, user text not null, device text not null, inode text not null, born text not null);
CREATE TABLE opener (
  pid integer not null, started_at text not null, boot_id text not null, pid_namespace text not null,
  opening integer not null, primary key (pid, started_at, boot_id, pid_namespace, opening)) without rowid;
CREATE TABLE migration (version integer primary key, name text not null, applied_at bigint not null);
CREATE TABLE id_counter("last");
CREATE TABLE namespace (
      id integer primary key,
      name text not null unique,
      stopped_at bigint,
      stopped_reason text,
      created_at bigint not null
    , notify text);
CREATE TABLE queue (
      id integer primary key,
      ns bigint not null,
      name text not null,
      policy text not null,
      policy_version integer not null,
      paused_at bigint,
      paused_reason text,
      created_at bigint not null, managed_by text, notify text, deleted_at bigint,
      unique (ns, name)
    );
CREATE TABLE queue_version (
      ns bigint not null,
      queue_id bigint not null,
      version integer not null,
      policy text not null,
      at bigint not null,
      actor text not null, door text,
      primary key (queue_id, version)
    ) without rowid;
CREATE TABLE start (
      ns bigint not null,
      queue_id bigint not null,
      at bigint not null,
      claim_id text not null,
      starts integer not null,
      primary key (queue_id, at, claim_id)
    ) without rowid;
CREATE TABLE need (
      id integer primary key,
      ns bigint not null,
      kind text not null,
      name text not null,
      unique (ns, kind, name)
    );
CREATE TABLE schedule (
      id integer primary key,
      ns bigint not null,
      name text not null,
      spec text not null,
      version integer not null,
      queue_id bigint not null,
      disabled_reason text,
      disabled_at bigint,
      paused_until bigint,
      paused_reason text,
      hints text not null,
      failure_count integer not null default 0,
      runs_count bigint not null default 0,
      last_planned_at bigint,
      anchor_at bigint not null,
      grid_anchor_at bigint not null,
      next_run_at bigint,
      next_due_at bigint,
      next_decision text,
      waits_for bigint,
      wake_at bigint,
      is_done smallint not null default 0,
      created_at bigint not null,
      updated_at bigint not null,
      deleted_at bigint
    , timed_at bigint not null default 0, managed_by text, last_end_at bigint, last_success_at bigint);
CREATE TABLE schedule_version (
      ns bigint not null,
      schedule_id bigint not null,
      version integer not null,
      spec text not null,
      at bigint not null,
      actor text not null,
      reason text, door text,
      primary key (schedule_id, version)
    ) without rowid;
CREATE TABLE hint (
      id integer primary key,
      ns bigint not null,
      schedule_id bigint not null,
      kind text not null,
      value bigint not null,
      expires_at bigint not null,
      reason text not null,
      author text not null,
      created_at bigint not null,
      ended_at bigint,
      ended_by text
    );
CREATE TABLE schedule_run (
      ns bigint not null,
      schedule_id bigint not null,
      run_id bigint not null,
      primary key (schedule_id, run_id)
    ) without rowid;
CREATE TABLE ledger (
      ns bigint not null,
      schedule_id bigint not null,
      from_at bigint not null,
      to_at bigint not null,
      count bigint not null,
      at_least smallint not null default 0,
      outcome text not null,
      run_id bigint,
      caused_by bigint,
      decision text,
      recorded_at bigint not null,
      ended_at bigint,
      primary key (schedule_id, from_at)
    ) without rowid;
CREATE TABLE run (
      id integer primary key,
      ns bigint not null,
      queue_id bigint not null,
      need_id bigint not null,
      priority integer not null,
      enqueued_at bigint not null,
      schedule_id bigint,
      occurrence_at bigint,
      due_at bigint,
      source text not null,
      not_before bigint,
      deadline bigint,
      late_after bigint,
      concurrency_key text,
      idempotency_key text,
      dedupe_key text,
      waits_for bigint,
      retry_of bigint,
      repeatable smallint not null default 1,
      on_exhausted text,
      policy_version integer not null,
      target text,
      payload text,
      options text,
      decision text
    );
CREATE TABLE ready (
      queue_id bigint not null,
      need_id bigint not null,
      priority integer not null,
      enqueued_at bigint not null,
      run_id bigint not null,
      ns bigint not null,
      fence integer not null,
      attempts integer not null,
      releases integer not null,
      deaths integer not null,
      concurrency_key text,
      primary key (queue_id, need_id, priority, enqueued_at, run_id)
    ) without rowid ;
CREATE TABLE aside (
      run_id integer primary key,
      ns bigint not null,
      queue_id bigint not null,
      need_id bigint not null,
      priority integer not null,
      enqueued_at bigint not null,
      concurrency_key text,
      kind text not null,
      at bigint not null,
      reason text,
      fence integer not null,
      attempts integer not null,
      releases integer not null,
      deaths integer not null
    );
CREATE TABLE lease (
      run_id integer primary key,
      ns bigint not null,
      queue_id bigint not null,
      schedule_id bigint,
      concurrency_key text,
      dedupe_key text,
      worker_id bigint not null,
      claim_id text not null,
      leased_at bigint not null,
      expires_at bigint not null,
      cancel_requested_at bigint,
      cancel_reason text,
      fence integer not null,
      attempts integer not null,
      releases integer not null,
      deaths integer not null
    );
CREATE TABLE attempt (
      run_id bigint not null,
      fence integer not null,
      ns bigint not null,
      queue_id bigint not null,
      worker_id bigint,
      started_at bigint,
      ended_at bigint not null,
      outcome text not null,
      reason text,
      ends text,
      primary key (run_id, fence)
    ) without rowid;
CREATE TABLE result (
      run_id integer primary key,
      ns bigint not null,
      fence integer not null,
      body text not null,
      truncated smallint not null
    );
CREATE TABLE output (
      ns bigint not null,
      run_id bigint not null,
      fence integer not null,
      seq integer not null,
      bytes integer not null,
      dropped_bytes bigint not null,
      body text not null,
      primary key (run_id, fence, seq)
    ) without rowid;
CREATE TABLE idempotency (
      ns bigint not null,
      key text not null,
      run_id bigint not null,
      input_hash text not null,
      created_at bigint not null,
      primary key (ns, key)
    ) without rowid;
CREATE TABLE dedupe (
      ns bigint not null,
      key text not null,
      run_id bigint not null,
      primary key (ns, key)
    ) without rowid;
CREATE TABLE worker (
      id integer primary key,
      ns bigint not null,
      name text not null,
      host text not null,
      pid integer,
      pid_started_at text,
      boot_id text,
      pid_namespace text,
      can text not null,
      slots integer,
      started_at bigint not null,
      beat_at bigint not null,
      beat_ms bigint not null,
      stopped_at bigint
    , is_host smallint not null default 0, died_at bigint, lost text);
CREATE TABLE duty (
      ns bigint not null,
      name text not null,
      worker_id bigint not null,
      expires_at bigint not null,
      primary key (ns, name)
    ) without rowid;
CREATE TABLE audit (
      id integer primary key,
      ns bigint not null,
      at bigint not null,
      actor text not null,
      door text not null,
      verb text not null,
      subject text not null,
      detail text
    );
CREATE TABLE claim (
      ns bigint not null,
      key text not null,
      claim_id text not null,
      input_hash text not null,
      granted text not null,
      created_at bigint not null,
      primary key (ns, key)
    ) without rowid;
CREATE TABLE token (
      id integer primary key,
      ns bigint not null,
      name text not null,
      hash text not null,
      scope text not null,
      created_at bigint not null,
      created_by text not null,
      expires_at bigint,
      revoked_at bigint,
      used_at bigint
    , managed_by text);
CREATE TABLE config (
      ns bigint not null,
      source text not null,
      hash text not null,
      file text not null,
      tokens text not null,
      applied_at bigint not null,
      actor text not null,
      door text not null,
      primary key (ns, source)
    );
CREATE TABLE config_content (
      ns bigint not null,
      source text not null,
      hash text not null,
      applied_at bigint not null,
      primary key (ns, source, hash)
    );
CREATE TABLE config_fault (
      ns bigint not null,
      file text not null,
      says text not null,
      at bigint not null,
      seen_at bigint not null,
      primary key (ns, file)
    );
CREATE TABLE routine (
      id integer primary key,
      ns bigint not null,
      name text not null,
      spec text not null,
      disabled_at bigint,
      disabled_reason text,
      created_at bigint not null,
      created_by text not null,
      updated_at bigint not null,
      deleted_at bigint
    );
CREATE TABLE routine_event (
      id integer primary key,
      ns bigint not null,
      routine_id bigint not null,
      delivery_id text not null,
      at bigint not null,
      type text,
      outcome text not null,
      reason text,
      run_id bigint,
      repeats bigint not null default 0,
      actor text not null,
      door text not null,
      payload text not null,
      is_cut smallint not null
    );
CREATE TABLE notice (
      ns bigint not null,
      subject text not null,
      subject_id bigint not null,
      event text not null,
      last_at bigint,
      quiet_until bigint not null,
      suppressed bigint not null,
      is_open smallint not null,
      primary key (ns, subject, subject_id, event)
    ) without rowid;
insert into "mark" ("machine", "user", "device", "inode", "born") values ('3d1219c7c4c5404aaa1f6d2a48adfda4', '0', '65024', '2173058', '1794970727115777582');
insert into "opener" ("pid", "started_at", "boot_id", "pid_namespace", "opening") values (29729, '480646', 'd960c22e-94e5-45a4-8d3b-8664db04620a', 'pid:[4026531836]', 1);
insert into "migration" ("version", "name", "applied_at") values (1, 'ground', 1780272000000);
insert into "migration" ("version", "name", "applied_at") values (2, 'timed-at', 1780272000000);
insert into "migration" ("version", "name", "applied_at") values (3, 'hosts', 1780272000000);
insert into "migration" ("version", "name", "applied_at") values (4, 'tokens', 1780272000000);
insert into "migration" ("version", "name", "applied_at") values (5, 'events', 1780272000000);
insert into "migration" ("version", "name", "applied_at") values (6, 'doors', 1780272000000);
insert into "migration" ("version", "name", "applied_at") values (7, 'config', 1780272000000);
insert into "migration" ("version", "name", "applied_at") values (8, 'routines', 1780272000000);
insert into "migration" ("version", "name", "applied_at") values (9, 'notices', 1780272000000);
insert into "migration" ("version", "name", "applied_at") values (10, 'deleted-queues', 1780272000000);
insert into "migration" ("version", "name", "applied_at") values (11, 'last-ends', 1780272000000);
insert into "migration" ("version", "name", "applied_at") values (12, 'made-at', 1780272000000);
insert into "migration" ("version", "name", "applied_at") values (13, 'deaths', 1780272000000);
insert into "migration" ("version", "name", "applied_at") values (14, 'newest-first', 1780272000000);
insert into "migration" ("version", "name", "applied_at") values (15, 'newest-events', 1780272000000);
insert into "id_counter" ("last") values (107);
insert into "namespace" ("id", "name", "stopped_at", "stopped_reason", "created_at", "notify") values (1, 'default', null, null, 1780272000000, '{"onFailure":{"command":["true"]}}');
insert into "namespace" ("id", "name", "stopped_at", "stopped_reason", "created_at", "notify") values (30, 'stopped', 1780272000000, 'A fire.', 1780272000000, null);
insert into "queue" ("id", "ns", "name", "policy", "policy_version", "paused_at", "paused_reason", "created_at", "managed_by", "notify", "deleted_at") values (2, 1, 'once', '{"maxConcurrent":1,"maxAttempts":1,"leaseTtlMs":300000,"backoffBaseMs":1000,"backoffFactor":2,"backoffCapMs":60000,"retention":{"completedMs":604800000,"failedMs":2592000000,"ledgerMs":7776000000,"endedRunsMax":1000000}}', 1, null, null, 1780272000000, null, null, null);
insert into "queue" ("id", "ns", "name", "policy", "policy_version", "paused_at", "paused_reason", "created_at", "managed_by", "notify", "deleted_at") values (4, 1, 'default', '{"maxConcurrent":5,"maxAttempts":3,"leaseTtlMs":300000,"backoffBaseMs":1000,"backoffFactor":2,"backoffCapMs":60000,"retention":{"completedMs":604800000,"failedMs":2592000000,"ledgerMs":7776000000,"endedRunsMax":1000000}}', 1, null, null, 1780272000000, null, null, null);
insert into "queue" ("id", "ns", "name", "policy", "policy_version", "paused_at", "paused_reason", "created_at", "managed_by", "notify", "deleted_at") values (17, 1, 'notices', '{"maxConcurrent":5,"maxAttempts":10,"leaseTtlMs":300000,"backoffBaseMs":1000,"backoffFactor":2,"backoffCapMs":60000,"retention":{"completedMs":604800000,"failedMs":2592000000,"ledgerMs":7776000000,"endedRunsMax":1000000},"rateLimit":{"startsMax":60,"perMs":60000},"onExhausted":"fail"}', 1, null, null, 1780272000000, null, null, null);
insert into "queue" ("id", "ns", "name", "policy", "policy_version", "paused_at", "paused_reason", "created_at", "managed_by", "notify", "deleted_at") values (31, 30, 'default', '{"maxConcurrent":5,"maxAttempts":3,"leaseTtlMs":300000,"backoffBaseMs":1000,"backoffFactor":2,"backoffCapMs":60000,"retention":{"completedMs":604800000,"failedMs":2592000000,"ledgerMs":7776000000,"endedRunsMax":1000000}}', 1, null, null, 1780272000000, null, null, null);
insert into "queue" ("id", "ns", "name", "policy", "policy_version", "paused_at", "paused_reason", "created_at", "managed_by", "notify", "deleted_at") values (37, 1, 'reports', '{"maxConcurrent":3,"maxAttempts":3,"leaseTtlMs":300000,"backoffBaseMs":1000,"backoffFactor":2,"backoffCapMs":60000,"retention":{"completedMs":604800000,"failedMs":2592000000,"ledgerMs":7776000000,"endedRunsMax":1000000}}', 1, null, null, 1780272000000, 'ops', null, null);
insert into "queue" ("id", "ns", "name", "policy", "policy_version", "paused_at", "paused_reason", "created_at", "managed_by", "notify", "deleted_at") values (95, 1, 'mail', '{"maxConcurrent":1,"maxAttempts":3,"leaseTtlMs":300000,"backoffBaseMs":1000,"backoffFactor":2,"backoffCapMs":60000,"retention":{"completedMs":604800000,"failedMs":2592000000,"ledgerMs":7776000000,"endedRunsMax":1000000}}', 1, 1780293600000, 'The server moves.', 1780293600000, null, null, null);
insert into "queue" ("id", "ns", "name", "policy", "policy_version", "paused_at", "paused_reason", "created_at", "managed_by", "notify", "deleted_at") values (101, 1, 'letters', '{"maxConcurrent":1,"maxAttempts":3,"leaseTtlMs":300000,"backoffBaseMs":1000,"backoffFactor":2,"backoffCapMs":60000,"retention":{"completedMs":604800000,"failedMs":2592000000,"ledgerMs":7776000000,"endedRunsMax":1000000}}', 1, null, null, 1780293600000, null, null, null);
insert into "queue_version" ("ns", "queue_id", "version", "policy", "at", "actor", "door") values (1, 2, 1, '{"maxConcurrent":1,"maxAttempts":1,"leaseTtlMs":300000,"backoffBaseMs":1000,"backoffFactor":2,"backoffCapMs":60000,"retention":{"completedMs":604800000,"failedMs":2592000000,"ledgerMs":7776000000,"endedRunsMax":1000000}}', 1780272000000, 'root', 'library');
insert into "queue_version" ("ns", "queue_id", "version", "policy", "at", "actor", "door") values (1, 4, 1, '{"maxConcurrent":5,"maxAttempts":3,"leaseTtlMs":300000,"backoffBaseMs":1000,"backoffFactor":2,"backoffCapMs":60000,"retention":{"completedMs":604800000,"failedMs":2592000000,"ledgerMs":7776000000,"endedRunsMax":1000000}}', 1780272000000, 'belfry', null);
insert into "queue_version" ("ns", "queue_id", "version", "policy", "at", "actor", "door") values (1, 17, 1, '{"maxConcurrent":5,"maxAttempts":10,"leaseTtlMs":300000,"backoffBaseMs":1000,"backoffFactor":2,"backoffCapMs":60000,"retention":{"completedMs":604800000,"failedMs":2592000000,"ledgerMs":7776000000,"endedRunsMax":1000000},"rateLimit":{"startsMax":60,"perMs":60000},"onExhausted":"fail"}', 1780272000000, 'belfry', null);
insert into "queue_version" ("ns", "queue_id", "version", "policy", "at", "actor", "door") values (30, 31, 1, '{"maxConcurrent":5,"maxAttempts":3,"leaseTtlMs":300000,"backoffBaseMs":1000,"backoffFactor":2,"backoffCapMs":60000,"retention":{"completedMs":604800000,"failedMs":2592000000,"ledgerMs":7776000000,"endedRunsMax":1000000}}', 1780272000000, 'belfry', null);
insert into "queue_version" ("ns", "queue_id", "version", "policy", "at", "actor", "door") values (1, 37, 1, '{"maxConcurrent":3,"maxAttempts":3,"leaseTtlMs":300000,"backoffBaseMs":1000,"backoffFactor":2,"backoffCapMs":60000,"retention":{"completedMs":604800000,"failedMs":2592000000,"ledgerMs":7776000000,"endedRunsMax":1000000}}', 1780272000000, 'root', 'library');
insert into "queue_version" ("ns", "queue_id", "version", "policy", "at", "actor", "door") values (1, 95, 1, '{"maxConcurrent":1,"maxAttempts":3,"leaseTtlMs":300000,"backoffBaseMs":1000,"backoffFactor":2,"backoffCapMs":60000,"retention":{"completedMs":604800000,"failedMs":2592000000,"ledgerMs":7776000000,"endedRunsMax":1000000}}', 1780293600000, 'root', 'library');
insert into "queue_version" ("ns", "queue_id", "version", "policy", "at", "actor", "door") values (1, 101, 1, '{"maxConcurrent":1,"maxAttempts":3,"leaseTtlMs":300000,"backoffBaseMs":1000,"backoffFactor":2,"backoffCapMs":60000,"retention":{"completedMs":604800000,"failedMs":2592000000,"ledgerMs":7776000000,"endedRunsMax":1000000}}', 1780293600000, 'belfry', null);
insert into "need" ("id", "ns", "kind", "name") values (18, 1, 'command', '');
insert into "need" ("id", "ns", "kind", "name") values (45, 1, 'handler', 'work');
insert into "need" ("id", "ns", "kind", "name") values (49, 1, 'handler', 'fails');
insert into "need" ("id", "ns", "kind", "name") values (54, 30, 'handler', 'work');
insert into "need" ("id", "ns", "kind", "name") values (102, 1, 'none', '');
insert into "need" ("id", "ns", "kind", "name") values (106, 1, 'handler', 'hangs');
insert into "schedule" ("id", "ns", "name", "spec", "version", "queue_id", "disabled_reason", "disabled_at", "paused_until", "paused_reason", "hints", "failure_count", "runs_count", "last_planned_at", "anchor_at", "grid_anchor_at", "next_run_at", "next_due_at", "next_decision", "waits_for", "wake_at", "is_done", "created_at", "updated_at", "deleted_at", "timed_at", "managed_by", "last_end_at", "last_success_at") values (5, 1, 'calendar', '{"name":"calendar","timing":{"cron":"30 7,8,9 * * *","zone":"Europe/Paris"},"payload":{"of":"calendar"},"target":{"handler":"work"}}', 1, 4, null, null, null, null, '{}', 0, 1, 1780291800000, 1780291800000, 1780272000000, 1780295400000, 1780295400000, '{"at":1780291800000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780272000000,"lastPlannedAt":1780291800000,"gridAnchorAt":1780272000000,"runsCount":1},"source":"baseline-cron","winner":"baseline","waitsForEnd":false,"trail":[{"rule":"baseline","from":1780295400000,"at":1780295400000,"effect":"won","why":"it is the first that counts"}]}', null, 1780295400000, 0, 1780272000000, 1780272000000, null, 1780272000000, null, 1780291800000, 1780291800000);
insert into "schedule" ("id", "ns", "name", "spec", "version", "queue_id", "disabled_reason", "disabled_at", "paused_until", "paused_reason", "hints", "failure_count", "runs_count", "last_planned_at", "anchor_at", "grid_anchor_at", "next_run_at", "next_due_at", "next_decision", "waits_for", "wake_at", "is_done", "created_at", "updated_at", "deleted_at", "timed_at", "managed_by", "last_end_at", "last_success_at") values (7, 1, 'interval', '{"name":"interval","timing":{"everyMs":3600000},"description":"Counted from the end of the run before.","target":{"handler":"work"}}', 2, 4, null, null, null, null, '{}', 0, 6, 1780293600000, 1780293600000, 1780272000000, 1780297200000, 1780297200000, '{"at":1780293600000,"version":2,"state":{"failureCount":0,"hints":{},"anchorAt":1780293600000,"lastPlannedAt":1780293600000,"gridAnchorAt":1780272000000,"runsCount":6},"source":"baseline-interval","winner":"baseline","waitsForEnd":true,"trail":[{"rule":"baseline","from":1780297200000,"at":1780297200000,"effect":"won","why":"it is the first that counts"}]}', null, 1780297200000, 0, 1780272000000, 1780272000000, null, 1780272000000, null, 1780293600000, 1780293600000);
insert into "schedule" ("id", "ns", "name", "spec", "version", "queue_id", "disabled_reason", "disabled_at", "paused_until", "paused_reason", "hints", "failure_count", "runs_count", "last_planned_at", "anchor_at", "grid_anchor_at", "next_run_at", "next_due_at", "next_decision", "waits_for", "wake_at", "is_done", "created_at", "updated_at", "deleted_at", "timed_at", "managed_by", "last_end_at", "last_success_at") values (9, 1, 'grid', '{"name":"grid","timing":{"everyMs":1800000,"from":"start"},"target":{"handler":"work"}}', 1, 4, null, null, null, null, '{}', 0, 12, 1780293600000, 1780293600000, 1780272000000, 1780295400000, 1780295400000, '{"at":1780293600000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780293600000,"lastPlannedAt":1780293600000,"gridAnchorAt":1780272000000,"runsCount":12},"source":"baseline-interval","winner":"baseline","waitsForEnd":false,"trail":[{"rule":"baseline","from":1780295400000,"at":1780295400000,"effect":"won","why":"it is the first that counts"}]}', null, 1780295400000, 0, 1780272000000, 1780272000000, null, 1780272000000, null, 1780293600000, 1780293600000);
insert into "schedule" ("id", "ns", "name", "spec", "version", "queue_id", "disabled_reason", "disabled_at", "paused_until", "paused_reason", "hints", "failure_count", "runs_count", "last_planned_at", "anchor_at", "grid_anchor_at", "next_run_at", "next_due_at", "next_decision", "waits_for", "wake_at", "is_done", "created_at", "updated_at", "deleted_at", "timed_at", "managed_by", "last_end_at", "last_success_at") values (11, 1, 'one-shot', '{"name":"one-shot","timing":{"at":1780300800000},"target":{"handler":"work"}}', 1, 4, null, null, null, null, '{}', 0, 0, null, 1780272000000, 1780272000000, 1780300800000, 1780300800000, '{"at":1780272000000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780272000000,"gridAnchorAt":1780272000000,"runsCount":0},"source":"baseline-once","winner":"baseline","waitsForEnd":false,"trail":[{"rule":"baseline","from":1780300800000,"at":1780300800000,"effect":"won","why":"it is the first that counts"}]}', null, 1780300800000, 0, 1780272000000, 1780272000000, null, 1780272000000, null, null, null);
insert into "schedule" ("id", "ns", "name", "spec", "version", "queue_id", "disabled_reason", "disabled_at", "paused_until", "paused_reason", "hints", "failure_count", "runs_count", "last_planned_at", "anchor_at", "grid_anchor_at", "next_run_at", "next_due_at", "next_decision", "waits_for", "wake_at", "is_done", "created_at", "updated_at", "deleted_at", "timed_at", "managed_by", "last_end_at", "last_success_at") values (13, 1, 'by-hand', '{"name":"by-hand","timing":{},"target":{"handler":"work"}}', 1, 4, null, null, null, null, '{}', 0, 0, null, 1780272000000, 1780272000000, null, null, '{"at":1780272000000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780272000000,"gridAnchorAt":1780272000000,"runsCount":0},"source":"none","winner":null,"waitsForEnd":false,"trail":[{"rule":"baseline","from":null,"at":null,"effect":"ignored","why":"the schedule has no timing of its own"}]}', null, null, 1, 1780272000000, 1780272000000, null, 1780272000000, null, null, null);
insert into "schedule" ("id", "ns", "name", "spec", "version", "queue_id", "disabled_reason", "disabled_at", "paused_until", "paused_reason", "hints", "failure_count", "runs_count", "last_planned_at", "anchor_at", "grid_anchor_at", "next_run_at", "next_due_at", "next_decision", "waits_for", "wake_at", "is_done", "created_at", "updated_at", "deleted_at", "timed_at", "managed_by", "last_end_at", "last_success_at") values (15, 1, 'hinted', '{"name":"hinted","timing":{"cron":"0 0 1 1 *","zone":"UTC"},"target":{"handler":"work"}}', 1, 4, null, null, null, null, '{"interval":{"ms":1200000,"expiresAt":1780336800000},"oneshot":{"at":1780294500000,"expiresAt":1780295400000}}', 0, 1, 1780293600000, 1780272000000, 1780272000000, 1780294500000, 1780294500000, '{"at":1780293600000,"version":1,"state":{"failureCount":0,"hints":{"interval":{"ms":1200000,"expiresAt":1780336800000},"oneshot":{"at":1780294500000,"expiresAt":1780295400000}},"anchorAt":1780272000000,"lastPlannedAt":1780293600000,"gridAnchorAt":1780272000000,"runsCount":1},"unmeasured":["max","delay"],"source":"ai-oneshot","winner":"oneshot-hint","waitsForEnd":false,"trail":[{"rule":"baseline","from":null,"at":null,"effect":"ignored","why":"the schedule has no timing of its own"},{"rule":"oneshot-hint","from":1780294500000,"at":1780294500000,"effect":"won","why":"it is the first that counts"}]}', null, 1780294500000, 0, 1780272000000, 1780272000000, null, 1780272000000, null, null, null);
insert into "schedule" ("id", "ns", "name", "spec", "version", "queue_id", "disabled_reason", "disabled_at", "paused_until", "paused_reason", "hints", "failure_count", "runs_count", "last_planned_at", "anchor_at", "grid_anchor_at", "next_run_at", "next_due_at", "next_decision", "waits_for", "wake_at", "is_done", "created_at", "updated_at", "deleted_at", "timed_at", "managed_by", "last_end_at", "last_success_at") values (19, 1, 'failing', '{"name":"failing","timing":{"everyMs":3600000},"queue":"once","target":{"handler":"fails"},"notify":{"onFailure":{"command":["true"]}}}', 1, 2, null, null, null, null, '{}', 2, 2, 1780282800000, 1780282800000, 1780272000000, 1780297200000, 1780297200000, '{"at":1780282800000,"version":1,"state":{"failureCount":2,"hints":{},"anchorAt":1780282800000,"lastPlannedAt":1780282800000,"gridAnchorAt":1780272000000,"runsCount":2},"source":"baseline-interval","winner":"baseline","waitsForEnd":true,"trail":[{"rule":"backoff","from":1780286400000,"at":1780297200000,"effect":"moved","why":"each failure in a row doubles the wait"},{"rule":"baseline","from":1780297200000,"at":1780297200000,"effect":"won","why":"it is the first that counts"}]}', null, 1780297200000, 0, 1780272000000, 1780272000000, null, 1780272000000, null, 1780282800000, null);
insert into "schedule" ("id", "ns", "name", "spec", "version", "queue_id", "disabled_reason", "disabled_at", "paused_until", "paused_reason", "hints", "failure_count", "runs_count", "last_planned_at", "anchor_at", "grid_anchor_at", "next_run_at", "next_due_at", "next_decision", "waits_for", "wake_at", "is_done", "created_at", "updated_at", "deleted_at", "timed_at", "managed_by", "last_end_at", "last_success_at") values (21, 1, 'held', '{"name":"held","timing":{"everyMs":600000},"startAt":1780315200000,"target":{"handler":"work"}}', 1, 4, null, null, 1780318800000, 'The disk is full.', '{}', 0, 0, null, 1780272000000, 1780315200000, null, null, '{"at":1780293600000,"version":1,"state":{"failureCount":0,"hints":{},"pausedUntil":1780318800000,"anchorAt":1780272000000,"gridAnchorAt":1780315200000,"runsCount":0},"source":"paused","winner":null,"waitsForEnd":false,"trail":[{"rule":"pause","from":null,"at":1780318800000,"effect":"stopped","why":"the schedule is paused until then"}]}', null, 1780318800000, 0, 1780272000000, 1780272000000, null, 1780272000000, null, null, null);
insert into "schedule" ("id", "ns", "name", "spec", "version", "queue_id", "disabled_reason", "disabled_at", "paused_until", "paused_reason", "hints", "failure_count", "runs_count", "last_planned_at", "anchor_at", "grid_anchor_at", "next_run_at", "next_due_at", "next_decision", "waits_for", "wake_at", "is_done", "created_at", "updated_at", "deleted_at", "timed_at", "managed_by", "last_end_at", "last_success_at") values (23, 1, 'resting', '{"name":"resting","timing":{"everyMs":3600000},"target":{"handler":"work"}}', 1, 4, 'It rests.', 1780272000000, null, null, '{}', 0, 0, null, 1780272000000, 1780272000000, null, null, '{"at":1780272000000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780272000000,"gridAnchorAt":1780272000000,"runsCount":0},"source":"disabled","winner":null,"waitsForEnd":false,"trail":[{"rule":"enabled","from":null,"at":null,"effect":"stopped","why":"the schedule is disabled"}]}', null, null, 0, 1780272000000, 1780272000000, null, 1780272000000, null, null, null);
insert into "schedule" ("id", "ns", "name", "spec", "version", "queue_id", "disabled_reason", "disabled_at", "paused_until", "paused_reason", "hints", "failure_count", "runs_count", "last_planned_at", "anchor_at", "grid_anchor_at", "next_run_at", "next_due_at", "next_decision", "waits_for", "wake_at", "is_done", "created_at", "updated_at", "deleted_at", "timed_at", "managed_by", "last_end_at", "last_success_at") values (25, 1, 'old', '{"name":"old","timing":{"everyMs":3600000},"target":{"handler":"work"}}', 1, 4, null, null, null, null, '{}', 0, 0, null, 1780272000000, 1780272000000, null, null, null, null, null, 0, 1780272000000, 1780272000000, 1780272000000, 1780272000000, null, null, null);
insert into "schedule" ("id", "ns", "name", "spec", "version", "queue_id", "disabled_reason", "disabled_at", "paused_until", "paused_reason", "hints", "failure_count", "runs_count", "last_planned_at", "anchor_at", "grid_anchor_at", "next_run_at", "next_due_at", "next_decision", "waits_for", "wake_at", "is_done", "created_at", "updated_at", "deleted_at", "timed_at", "managed_by", "last_end_at", "last_success_at") values (32, 30, 'tenant', '{"name":"tenant","timing":{"everyMs":3600000},"target":{"handler":"work"}}', 1, 31, null, null, null, null, '{}', 0, 1, 1780275600000, 1780272000000, 1780272000000, null, null, '{"at":1780275600000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780272000000,"lastPlannedAt":1780275600000,"gridAnchorAt":1780272000000,"runsCount":1},"unmeasured":["max"],"source":"baseline-interval","winner":"baseline","waitsForEnd":true,"trail":[{"rule":"baseline","from":1780275600000,"at":1780275600000,"effect":"won","why":"it is the first that counts"},{"rule":"last-planned","from":1780275600000,"at":1780275600001,"effect":"moved","why":"that instant has been planned already"}]}', 58, null, 0, 1780272000000, 1780272000000, null, 1780272000000, null, null, null);
insert into "schedule" ("id", "ns", "name", "spec", "version", "queue_id", "disabled_reason", "disabled_at", "paused_until", "paused_reason", "hints", "failure_count", "runs_count", "last_planned_at", "anchor_at", "grid_anchor_at", "next_run_at", "next_due_at", "next_decision", "waits_for", "wake_at", "is_done", "created_at", "updated_at", "deleted_at", "timed_at", "managed_by", "last_end_at", "last_success_at") values (39, 1, 'managed', '{"name":"managed","timing":{"everyMs":7200000},"queue":"reports","target":{"handler":"work"}}', 1, 37, null, null, null, null, '{}', 0, 3, 1780293600000, 1780293600000, 1780272000000, 1780300800000, 1780300800000, '{"at":1780293600000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780293600000,"lastPlannedAt":1780293600000,"gridAnchorAt":1780272000000,"runsCount":3},"source":"baseline-interval","winner":"baseline","waitsForEnd":true,"trail":[{"rule":"baseline","from":1780300800000,"at":1780300800000,"effect":"won","why":"it is the first that counts"}]}', null, 1780300800000, 0, 1780272000000, 1780272000000, null, 1780272000000, 'ops', 1780293600000, 1780293600000);
insert into "schedule_version" ("ns", "schedule_id", "version", "spec", "at", "actor", "reason", "door") values (1, 5, 1, '{"name":"calendar","timing":{"cron":"30 7,8,9 * * *","zone":"Europe/Paris"},"payload":{"of":"calendar"},"target":{"handler":"work"}}', 1780272000000, 'root', null, 'library');
insert into "schedule_version" ("ns", "schedule_id", "version", "spec", "at", "actor", "reason", "door") values (1, 7, 1, '{"name":"interval","timing":{"everyMs":3600000},"description":"From end to start.","target":{"handler":"work"}}', 1780272000000, 'root', null, 'library');
insert into "schedule_version" ("ns", "schedule_id", "version", "spec", "at", "actor", "reason", "door") values (1, 7, 2, '{"name":"interval","timing":{"everyMs":3600000},"description":"Counted from the end of the run before.","target":{"handler":"work"}}', 1780272000000, 'root', null, 'library');
insert into "schedule_version" ("ns", "schedule_id", "version", "spec", "at", "actor", "reason", "door") values (1, 9, 1, '{"name":"grid","timing":{"everyMs":1800000,"from":"start"},"target":{"handler":"work"}}', 1780272000000, 'root', null, 'library');
insert into "schedule_version" ("ns", "schedule_id", "version", "spec", "at", "actor", "reason", "door") values (1, 11, 1, '{"name":"one-shot","timing":{"at":1780300800000},"target":{"handler":"work"}}', 1780272000000, 'root', null, 'library');
insert into "schedule_version" ("ns", "schedule_id", "version", "spec", "at", "actor", "reason", "door") values (1, 13, 1, '{"name":"by-hand","timing":{},"target":{"handler":"work"}}', 1780272000000, 'root', null, 'library');
insert into "schedule_version" ("ns", "schedule_id", "version", "spec", "at", "actor", "reason", "door") values (1, 15, 1, '{"name":"hinted","timing":{"cron":"0 0 1 1 *","zone":"UTC"},"target":{"handler":"work"}}', 1780272000000, 'root', null, 'library');
insert into "schedule_version" ("ns", "schedule_id", "version", "spec", "at", "actor", "reason", "door") values (1, 19, 1, '{"name":"failing","timing":{"everyMs":3600000},"queue":"once","target":{"handler":"fails"},"notify":{"onFailure":{"command":["true"]}}}', 1780272000000, 'root', null, 'library');
insert into "schedule_version" ("ns", "schedule_id", "version", "spec", "at", "actor", "reason", "door") values (1, 21, 1, '{"name":"held","timing":{"everyMs":600000},"startAt":1780315200000,"target":{"handler":"work"}}', 1780272000000, 'root', null, 'library');
insert into "schedule_version" ("ns", "schedule_id", "version", "spec", "at", "actor", "reason", "door") values (1, 23, 1, '{"name":"resting","timing":{"everyMs":3600000},"target":{"handler":"work"}}', 1780272000000, 'root', null, 'library');
insert into "schedule_version" ("ns", "schedule_id", "version", "spec", "at", "actor", "reason", "door") values (1, 25, 1, '{"name":"old","timing":{"everyMs":3600000},"target":{"handler":"work"}}', 1780272000000, 'root', null, 'library');
insert into "schedule_version" ("ns", "schedule_id", "version", "spec", "at", "actor", "reason", "door") values (30, 32, 1, '{"name":"tenant","timing":{"everyMs":3600000},"target":{"handler":"work"}}', 1780272000000, 'root', null, 'library');
insert into "schedule_version" ("ns", "schedule_id", "version", "spec", "at", "actor", "reason", "door") values (1, 39, 1, '{"name":"managed","timing":{"everyMs":7200000},"queue":"reports","target":{"handler":"work"}}', 1780272000000, 'root', null, 'library');
insert into "hint" ("id", "ns", "schedule_id", "kind", "value", "expires_at", "reason", "author", "created_at", "ended_at", "ended_by") values (91, 1, 15, 'interval', 1200000, 1780336800000, 'It is busy.', 'root', 1780293600000, null, null);
insert into "hint" ("id", "ns", "schedule_id", "kind", "value", "expires_at", "reason", "author", "created_at", "ended_at", "ended_by") values (92, 1, 15, 'oneshot', 1780294500000, 1780295400000, 'Look once.', 'root', 1780293600000, null, null);
insert into "schedule_run" ("ns", "schedule_id", "run_id") values (1, 15, 104);
insert into "schedule_run" ("ns", "schedule_id", "run_id") values (1, 21, 93);
insert into "schedule_run" ("ns", "schedule_id", "run_id") values (30, 32, 58);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 5, 1780291800000, 1780291800000, 1, 0, 'completed', 85, null, '{"at":1780272000000,"version":1,"source":"baseline-cron","winner":"baseline","waitsForEnd":false,"trail":[{"rule":"baseline","from":1780291800000,"at":1780291800000,"effect":"won","why":"it is the first that counts"}]}', 1780291800000, 1780291800000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 7, 1780275600000, 1780275600000, 1, 0, 'completed', 55, null, '{"at":1780272000000,"version":2,"source":"baseline-interval","winner":"baseline","waitsForEnd":true,"trail":[{"rule":"baseline","from":1780275600000,"at":1780275600000,"effect":"won","why":"it is the first that counts"}]}', 1780275600000, 1780275600000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 7, 1780279200000, 1780279200000, 1, 0, 'completed', 63, null, '{"at":1780275600000,"version":2,"source":"baseline-interval","winner":"baseline","waitsForEnd":true,"trail":[{"rule":"baseline","from":1780279200000,"at":1780279200000,"effect":"won","why":"it is the first that counts"}]}', 1780279200000, 1780279200000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 7, 1780282800000, 1780282800000, 1, 0, 'completed', 69, null, '{"at":1780279200000,"version":2,"source":"baseline-interval","winner":"baseline","waitsForEnd":true,"trail":[{"rule":"baseline","from":1780282800000,"at":1780282800000,"effect":"won","why":"it is the first that counts"}]}', 1780282800000, 1780282800000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 7, 1780286400000, 1780286400000, 1, 0, 'completed', 76, null, '{"at":1780282800000,"version":2,"source":"baseline-interval","winner":"baseline","waitsForEnd":true,"trail":[{"rule":"baseline","from":1780286400000,"at":1780286400000,"effect":"won","why":"it is the first that counts"}]}', 1780286400000, 1780286400000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 7, 1780290000000, 1780290000000, 1, 0, 'completed', 82, null, '{"at":1780286400000,"version":2,"source":"baseline-interval","winner":"baseline","waitsForEnd":true,"trail":[{"rule":"baseline","from":1780290000000,"at":1780290000000,"effect":"won","why":"it is the first that counts"}]}', 1780290000000, 1780290000000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 7, 1780293600000, 1780293600000, 1, 0, 'completed', 88, null, '{"at":1780290000000,"version":2,"source":"baseline-interval","winner":"baseline","waitsForEnd":true,"trail":[{"rule":"baseline","from":1780293600000,"at":1780293600000,"effect":"won","why":"it is the first that counts"}]}', 1780293600000, 1780293600000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 9, 1780273800000, 1780273800000, 1, 0, 'completed', 52, null, '{"at":1780272000000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":false,"trail":[{"rule":"baseline","from":1780273800000,"at":1780273800000,"effect":"won","why":"it is the first that counts"}]}', 1780273800000, 1780273800000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 9, 1780275600000, 1780275600000, 1, 0, 'completed', 56, null, '{"at":1780273800000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":false,"trail":[{"rule":"baseline","from":1780275600000,"at":1780275600000,"effect":"won","why":"it is the first that counts"}]}', 1780275600000, 1780275600000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 9, 1780277400000, 1780277400000, 1, 0, 'completed', 61, null, '{"at":1780275600000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":false,"trail":[{"rule":"baseline","from":1780277400000,"at":1780277400000,"effect":"won","why":"it is the first that counts"}]}', 1780277400000, 1780277400000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 9, 1780279200000, 1780279200000, 1, 0, 'completed', 64, null, '{"at":1780277400000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":false,"trail":[{"rule":"baseline","from":1780279200000,"at":1780279200000,"effect":"won","why":"it is the first that counts"}]}', 1780279200000, 1780279200000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 9, 1780281000000, 1780281000000, 1, 0, 'completed', 67, null, '{"at":1780279200000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":false,"trail":[{"rule":"baseline","from":1780281000000,"at":1780281000000,"effect":"won","why":"it is the first that counts"}]}', 1780281000000, 1780281000000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 9, 1780282800000, 1780282800000, 1, 0, 'completed', 70, null, '{"at":1780281000000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":false,"trail":[{"rule":"baseline","from":1780282800000,"at":1780282800000,"effect":"won","why":"it is the first that counts"}]}', 1780282800000, 1780282800000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 9, 1780284600000, 1780284600000, 1, 0, 'completed', 74, null, '{"at":1780282800000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":false,"trail":[{"rule":"baseline","from":1780284600000,"at":1780284600000,"effect":"won","why":"it is the first that counts"}]}', 1780284600000, 1780284600000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 9, 1780286400000, 1780286400000, 1, 0, 'completed', 77, null, '{"at":1780284600000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":false,"trail":[{"rule":"baseline","from":1780286400000,"at":1780286400000,"effect":"won","why":"it is the first that counts"}]}', 1780286400000, 1780286400000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 9, 1780288200000, 1780288200000, 1, 0, 'completed', 80, null, '{"at":1780286400000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":false,"trail":[{"rule":"baseline","from":1780288200000,"at":1780288200000,"effect":"won","why":"it is the first that counts"}]}', 1780288200000, 1780288200000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 9, 1780290000000, 1780290000000, 1, 0, 'completed', 83, null, '{"at":1780288200000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":false,"trail":[{"rule":"baseline","from":1780290000000,"at":1780290000000,"effect":"won","why":"it is the first that counts"}]}', 1780290000000, 1780290000000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 9, 1780291800000, 1780291800000, 1, 0, 'completed', 86, null, '{"at":1780290000000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":false,"trail":[{"rule":"baseline","from":1780291800000,"at":1780291800000,"effect":"won","why":"it is the first that counts"}]}', 1780291800000, 1780291800000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 9, 1780293600000, 1780293600000, 1, 0, 'completed', 89, null, '{"at":1780291800000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":false,"trail":[{"rule":"baseline","from":1780293600000,"at":1780293600000,"effect":"won","why":"it is the first that counts"}]}', 1780293600000, 1780293600000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 15, 1780293600000, 1780293600000, 1, 0, 'fired', 104, null, '{"at":1780293600000,"version":1,"source":"ai-interval","winner":"interval-hint","waitsForEnd":true,"trail":[{"rule":"baseline","from":1798761600000,"at":1798761600000,"effect":"lost","why":"an interval hint overrides the baseline"},{"rule":"interval-hint","from":1780273200000,"at":1780293600000,"effect":"won","why":"it is overdue"}]}', 1780293600000, null);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 19, 1780275600000, 1780275600000, 1, 0, 'failed', 57, null, '{"at":1780272000000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":true,"trail":[{"rule":"baseline","from":1780275600000,"at":1780275600000,"effect":"won","why":"it is the first that counts"}]}', 1780275600000, 1780275600000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 19, 1780282800000, 1780282800000, 1, 0, 'failed', 71, null, '{"at":1780275600000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":true,"trail":[{"rule":"backoff","from":1780279200000,"at":1780282800000,"effect":"moved","why":"each failure in a row doubles the wait"},{"rule":"baseline","from":1780282800000,"at":1780282800000,"effect":"won","why":"it is the first that counts"}]}', 1780282800000, 1780282800000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (30, 32, 1780275600000, 1780275600000, 1, 0, 'fired', 58, null, '{"at":1780272000000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":true,"trail":[{"rule":"baseline","from":1780275600000,"at":1780275600000,"effect":"won","why":"it is the first that counts"}]}', 1780275600000, null);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 39, 1780279200000, 1780279200000, 1, 0, 'completed', 65, null, '{"at":1780272000000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":true,"trail":[{"rule":"baseline","from":1780279200000,"at":1780279200000,"effect":"won","why":"it is the first that counts"}]}', 1780279200000, 1780279200000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 39, 1780286400000, 1780286400000, 1, 0, 'completed', 78, null, '{"at":1780279200000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":true,"trail":[{"rule":"baseline","from":1780286400000,"at":1780286400000,"effect":"won","why":"it is the first that counts"}]}', 1780286400000, 1780286400000);
insert into "ledger" ("ns", "schedule_id", "from_at", "to_at", "count", "at_least", "outcome", "run_id", "caused_by", "decision", "recorded_at", "ended_at") values (1, 39, 1780293600000, 1780293600000, 1, 0, 'completed', 90, null, '{"at":1780286400000,"version":1,"source":"baseline-interval","winner":"baseline","waitsForEnd":true,"trail":[{"rule":"baseline","from":1780293600000,"at":1780293600000,"effect":"won","why":"it is the first that counts"}]}', 1780293600000, 1780293600000);
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (46, 1, 4, 45, 100, 1780272000000, null, null, 1780272000000, 'routine', null, null, null, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', '{"routine":"paid","delivery":"e-218","type":null,"receivedAt":"2026-06-01T00:00:00.000Z","event":{"type":"paid","amount":5}}', null, null);
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (47, 1, 4, 45, 100, 1780272000000, null, null, 1780272000000, 'enqueued', null, null, null, null, 'day 1', null, null, null, 1, null, 1, '{"handler":"work"}', '{"day":1}', null, null);
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (48, 1, 2, 49, 100, 1780272000000, null, null, 1780272000000, 'enqueued', null, null, null, null, null, null, null, null, 1, null, 1, '{"handler":"fails"}', '"parked"', null, null);
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (52, 1, 4, 45, 100, 1780273800000, 9, 1780273800000, 1780273800000, 'baseline-interval', null, null, 1780275600000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780272000000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780272000000,"gridAnchorAt":1780272000000,"runsCount":0},"trail":[{"rule":"baseline","from":1780273800000,"at":1780273800000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (55, 1, 4, 45, 100, 1780275600000, 7, 1780275600000, 1780275600000, 'baseline-interval', null, null, 1780362000000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780272000000,"version":2,"state":{"failureCount":0,"hints":{},"anchorAt":1780272000000,"gridAnchorAt":1780272000000,"runsCount":0},"trail":[{"rule":"baseline","from":1780275600000,"at":1780275600000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (56, 1, 4, 45, 100, 1780275600000, 9, 1780275600000, 1780275600000, 'baseline-interval', null, null, 1780277400000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780273800000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780273800000,"lastPlannedAt":1780273800000,"gridAnchorAt":1780272000000,"runsCount":1},"trail":[{"rule":"baseline","from":1780275600000,"at":1780275600000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (57, 1, 2, 49, 100, 1780275600000, 19, 1780275600000, 1780275600000, 'baseline-interval', null, null, 1780362000000, null, null, null, null, null, 1, null, 1, '{"handler":"fails"}', null, null, '{"at":1780272000000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780272000000,"gridAnchorAt":1780272000000,"runsCount":0},"trail":[{"rule":"baseline","from":1780275600000,"at":1780275600000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (58, 30, 31, 54, 100, 1780275600000, 32, 1780275600000, 1780275600000, 'baseline-interval', null, null, 1780362000000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780272000000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780272000000,"gridAnchorAt":1780272000000,"runsCount":0},"trail":[{"rule":"baseline","from":1780275600000,"at":1780275600000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (59, 1, 17, 18, 100, 1780275600000, null, null, 1780275600000, 'notice', null, null, null, null, null, null, null, null, 1, 'fail', 1, '{"command":["true"]}', '{"event":"failure","at":"2026-06-01T01:00:00.000Z","namespace":"default","schedule":"failing","queue":"once","run":"r-21l","attempt":1,"reason":"the disk is full (attempt 1/1)","failuresInARow":1,"suppressed":0,"output":null,"test":false}', null, null);
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (61, 1, 4, 45, 100, 1780277400000, 9, 1780277400000, 1780277400000, 'baseline-interval', null, null, 1780279200000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780275600000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780275600000,"lastPlannedAt":1780275600000,"gridAnchorAt":1780272000000,"runsCount":2},"trail":[{"rule":"baseline","from":1780277400000,"at":1780277400000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (63, 1, 4, 45, 100, 1780279200000, 7, 1780279200000, 1780279200000, 'baseline-interval', null, null, 1780365600000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780275600000,"version":2,"state":{"failureCount":0,"hints":{},"anchorAt":1780275600000,"lastPlannedAt":1780275600000,"gridAnchorAt":1780272000000,"runsCount":1},"trail":[{"rule":"baseline","from":1780279200000,"at":1780279200000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (64, 1, 4, 45, 100, 1780279200000, 9, 1780279200000, 1780279200000, 'baseline-interval', null, null, 1780281000000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780277400000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780277400000,"lastPlannedAt":1780277400000,"gridAnchorAt":1780272000000,"runsCount":3},"trail":[{"rule":"baseline","from":1780279200000,"at":1780279200000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (65, 1, 37, 45, 100, 1780279200000, 39, 1780279200000, 1780279200000, 'baseline-interval', null, null, 1780365600000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780272000000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780272000000,"gridAnchorAt":1780272000000,"runsCount":0},"trail":[{"rule":"baseline","from":1780279200000,"at":1780279200000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (67, 1, 4, 45, 100, 1780281000000, 9, 1780281000000, 1780281000000, 'baseline-interval', null, null, 1780282800000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780279200000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780279200000,"lastPlannedAt":1780279200000,"gridAnchorAt":1780272000000,"runsCount":4},"trail":[{"rule":"baseline","from":1780281000000,"at":1780281000000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (69, 1, 4, 45, 100, 1780282800000, 7, 1780282800000, 1780282800000, 'baseline-interval', null, null, 1780369200000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780279200000,"version":2,"state":{"failureCount":0,"hints":{},"anchorAt":1780279200000,"lastPlannedAt":1780279200000,"gridAnchorAt":1780272000000,"runsCount":2},"trail":[{"rule":"baseline","from":1780282800000,"at":1780282800000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (70, 1, 4, 45, 100, 1780282800000, 9, 1780282800000, 1780282800000, 'baseline-interval', null, null, 1780284600000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780281000000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780281000000,"lastPlannedAt":1780281000000,"gridAnchorAt":1780272000000,"runsCount":5},"trail":[{"rule":"baseline","from":1780282800000,"at":1780282800000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (71, 1, 2, 49, 100, 1780282800000, 19, 1780282800000, 1780282800000, 'baseline-interval', null, null, 1780369200000, null, null, null, null, null, 1, null, 1, '{"handler":"fails"}', null, null, '{"at":1780275600000,"version":1,"state":{"failureCount":1,"hints":{},"anchorAt":1780275600000,"lastPlannedAt":1780275600000,"gridAnchorAt":1780272000000,"runsCount":1},"trail":[{"rule":"backoff","from":1780279200000,"at":1780282800000,"effect":"moved","why":"each failure in a row doubles the wait"},{"rule":"baseline","from":1780282800000,"at":1780282800000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (72, 1, 17, 18, 100, 1780282800000, null, null, 1780282800000, 'notice', null, null, null, null, null, null, null, null, 1, 'fail', 1, '{"command":["true"]}', '{"event":"failure","at":"2026-06-01T03:00:00.000Z","namespace":"default","schedule":"failing","queue":"once","run":"r-21z","attempt":1,"reason":"the disk is full (attempt 1/1)","failuresInARow":2,"suppressed":0,"output":null,"test":false}', null, null);
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (74, 1, 4, 45, 100, 1780284600000, 9, 1780284600000, 1780284600000, 'baseline-interval', null, null, 1780286400000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780282800000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780282800000,"lastPlannedAt":1780282800000,"gridAnchorAt":1780272000000,"runsCount":6},"trail":[{"rule":"baseline","from":1780284600000,"at":1780284600000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (76, 1, 4, 45, 100, 1780286400000, 7, 1780286400000, 1780286400000, 'baseline-interval', null, null, 1780372800000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780282800000,"version":2,"state":{"failureCount":0,"hints":{},"anchorAt":1780282800000,"lastPlannedAt":1780282800000,"gridAnchorAt":1780272000000,"runsCount":3},"trail":[{"rule":"baseline","from":1780286400000,"at":1780286400000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (77, 1, 4, 45, 100, 1780286400000, 9, 1780286400000, 1780286400000, 'baseline-interval', null, null, 1780288200000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780284600000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780284600000,"lastPlannedAt":1780284600000,"gridAnchorAt":1780272000000,"runsCount":7},"trail":[{"rule":"baseline","from":1780286400000,"at":1780286400000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (78, 1, 37, 45, 100, 1780286400000, 39, 1780286400000, 1780286400000, 'baseline-interval', null, null, 1780372800000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780279200000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780279200000,"lastPlannedAt":1780279200000,"gridAnchorAt":1780272000000,"runsCount":1},"trail":[{"rule":"baseline","from":1780286400000,"at":1780286400000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (80, 1, 4, 45, 100, 1780288200000, 9, 1780288200000, 1780288200000, 'baseline-interval', null, null, 1780290000000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780286400000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780286400000,"lastPlannedAt":1780286400000,"gridAnchorAt":1780272000000,"runsCount":8},"trail":[{"rule":"baseline","from":1780288200000,"at":1780288200000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (82, 1, 4, 45, 100, 1780290000000, 7, 1780290000000, 1780290000000, 'baseline-interval', null, null, 1780376400000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780286400000,"version":2,"state":{"failureCount":0,"hints":{},"anchorAt":1780286400000,"lastPlannedAt":1780286400000,"gridAnchorAt":1780272000000,"runsCount":4},"trail":[{"rule":"baseline","from":1780290000000,"at":1780290000000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (83, 1, 4, 45, 100, 1780290000000, 9, 1780290000000, 1780290000000, 'baseline-interval', null, null, 1780291800000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780288200000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780288200000,"lastPlannedAt":1780288200000,"gridAnchorAt":1780272000000,"runsCount":9},"trail":[{"rule":"baseline","from":1780290000000,"at":1780290000000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (85, 1, 4, 45, 100, 1780291800000, 5, 1780291800000, 1780291800000, 'baseline-cron', null, null, 1780295400000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', '{"of":"calendar"}', null, '{"at":1780272000000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780272000000,"gridAnchorAt":1780272000000,"runsCount":0},"trail":[{"rule":"baseline","from":1780291800000,"at":1780291800000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (86, 1, 4, 45, 100, 1780291800000, 9, 1780291800000, 1780291800000, 'baseline-interval', null, null, 1780293600000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780290000000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780290000000,"lastPlannedAt":1780290000000,"gridAnchorAt":1780272000000,"runsCount":10},"trail":[{"rule":"baseline","from":1780291800000,"at":1780291800000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (88, 1, 4, 45, 100, 1780293600000, 7, 1780293600000, 1780293600000, 'baseline-interval', null, null, 1780380000000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780290000000,"version":2,"state":{"failureCount":0,"hints":{},"anchorAt":1780290000000,"lastPlannedAt":1780290000000,"gridAnchorAt":1780272000000,"runsCount":5},"trail":[{"rule":"baseline","from":1780293600000,"at":1780293600000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (89, 1, 4, 45, 100, 1780293600000, 9, 1780293600000, 1780293600000, 'baseline-interval', null, null, 1780295400000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780291800000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780291800000,"lastPlannedAt":1780291800000,"gridAnchorAt":1780272000000,"runsCount":11},"trail":[{"rule":"baseline","from":1780293600000,"at":1780293600000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (90, 1, 37, 45, 100, 1780293600000, 39, 1780293600000, 1780293600000, 'baseline-interval', null, null, 1780380000000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780286400000,"version":1,"state":{"failureCount":0,"hints":{},"anchorAt":1780286400000,"lastPlannedAt":1780286400000,"gridAnchorAt":1780272000000,"runsCount":2},"trail":[{"rule":"baseline","from":1780293600000,"at":1780293600000,"effect":"won","why":"it is the first that counts"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (93, 1, 4, 45, 100, 1780293600000, 21, null, 1780293600000, 'run-now', null, null, null, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, null);
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (97, 1, 95, 45, 100, 1780293600000, null, null, 1780293600000, 'enqueued', null, null, null, null, null, 'mail', null, null, 1, null, 1, '{"handler":"work"}', '"mail"', null, null);
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (99, 1, 4, 45, 100, 1780293600000, null, null, 1780304400000, 'enqueued', 1780304400000, null, null, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', '"later"', null, null);
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (100, 1, 101, 102, 100, 1780293600000, null, null, 1780293600000, 'enqueued', null, null, null, null, null, null, null, null, 1, null, 1, null, '"for a host"', null, null);
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (104, 1, 4, 45, 100, 1780293600000, 15, 1780293600000, 1780293600000, 'ai-interval', null, null, 1780380000000, null, null, null, null, null, 1, null, 1, '{"handler":"work"}', null, null, '{"at":1780293600000,"version":1,"state":{"failureCount":0,"hints":{"interval":{"ms":1200000,"expiresAt":1780336800000}},"anchorAt":1780272000000,"gridAnchorAt":1780272000000,"runsCount":0},"trail":[{"rule":"baseline","from":1798761600000,"at":1798761600000,"effect":"lost","why":"an interval hint overrides the baseline"},{"rule":"interval-hint","from":1780273200000,"at":1780293600000,"effect":"won","why":"it is overdue"}]}');
insert into "run" ("id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "schedule_id", "occurrence_at", "due_at", "source", "not_before", "deadline", "late_after", "concurrency_key", "idempotency_key", "dedupe_key", "waits_for", "retry_of", "repeatable", "on_exhausted", "policy_version", "target", "payload", "options", "decision") values (105, 1, 4, 106, 100, 1780293600000, null, null, 1780293600000, 'enqueued', null, null, null, null, null, null, null, null, 1, null, 1, '{"handler":"hangs"}', '"left behind"', null, null);
insert into "ready" ("queue_id", "need_id", "priority", "enqueued_at", "run_id", "ns", "fence", "attempts", "releases", "deaths", "concurrency_key") values (31, 54, 100, 1780275600000, 58, 30, 0, 0, 0, 0, null);
insert into "ready" ("queue_id", "need_id", "priority", "enqueued_at", "run_id", "ns", "fence", "attempts", "releases", "deaths", "concurrency_key") values (95, 45, 100, 1780293600000, 97, 1, 0, 0, 0, 0, null);
insert into "aside" ("run_id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "concurrency_key", "kind", "at", "reason", "fence", "attempts", "releases", "deaths") values (48, 1, 2, 49, 100, 1780272000000, null, 'parked', 1780272000000, 'the disk is full (attempt 1/1)', 1, 1, 0, 0);
insert into "aside" ("run_id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "concurrency_key", "kind", "at", "reason", "fence", "attempts", "releases", "deaths") values (93, 1, 4, 45, 100, 1780293600000, null, 'held', 1780293600000, null, 0, 0, 0, 0);
insert into "aside" ("run_id", "ns", "queue_id", "need_id", "priority", "enqueued_at", "concurrency_key", "kind", "at", "reason", "fence", "attempts", "releases", "deaths") values (99, 1, 4, 45, 100, 1780293600000, null, 'waiting', 1780304400000, 'not-before', 0, 0, 0, 0);
insert into "lease" ("run_id", "ns", "queue_id", "schedule_id", "concurrency_key", "dedupe_key", "worker_id", "claim_id", "leased_at", "expires_at", "cancel_requested_at", "cancel_reason", "fence", "attempts", "releases", "deaths") values (100, 1, 101, null, null, null, 107, '0696dfae803ad5f775388a8708be9fbe', 1780293600000, 1780293900000, null, null, 1, 0, 0, 0);
insert into "lease" ("run_id", "ns", "queue_id", "schedule_id", "concurrency_key", "dedupe_key", "worker_id", "claim_id", "leased_at", "expires_at", "cancel_requested_at", "cancel_reason", "fence", "attempts", "releases", "deaths") values (104, 1, 4, 15, null, null, 103, 'e0e0e268-06b3-4217-ab8b-71a34591c469', 1780293600000, 1780293630000, null, null, 1, 0, 0, 0);
insert into "lease" ("run_id", "ns", "queue_id", "schedule_id", "concurrency_key", "dedupe_key", "worker_id", "claim_id", "leased_at", "expires_at", "cancel_requested_at", "cancel_reason", "fence", "attempts", "releases", "deaths") values (105, 1, 4, null, null, null, 103, 'e0e0e268-06b3-4217-ab8b-71a34591c469', 1780293600000, 1780293630000, null, null, 1, 0, 0, 0);
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (46, 1, 1, 4, 50, 1780272000000, 1780272000000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (47, 1, 1, 4, 50, 1780272000000, 1780272000000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (48, 1, 1, 2, 50, 1780272000000, 1780272000000, 'failed', 'the disk is full (attempt 1/1)', null);
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (52, 1, 1, 4, 51, 1780273800000, 1780273800000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (55, 1, 1, 4, 53, 1780275600000, 1780275600000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (56, 1, 1, 4, 53, 1780275600000, 1780275600000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (57, 1, 1, 2, 53, 1780275600000, 1780275600000, 'failed', 'the disk is full (attempt 1/1)', 'failed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (59, 1, 1, 17, 53, 1780275600000, 1780275600000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (61, 1, 1, 4, 60, 1780277400000, 1780277400000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (63, 1, 1, 4, 62, 1780279200000, 1780279200000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (64, 1, 1, 4, 62, 1780279200000, 1780279200000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (65, 1, 1, 37, 62, 1780279200000, 1780279200000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (67, 1, 1, 4, 66, 1780281000000, 1780281000000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (69, 1, 1, 4, 68, 1780282800000, 1780282800000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (70, 1, 1, 4, 68, 1780282800000, 1780282800000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (71, 1, 1, 2, 68, 1780282800000, 1780282800000, 'failed', 'the disk is full (attempt 1/1)', 'failed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (72, 1, 1, 17, 68, 1780282800000, 1780282800000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (74, 1, 1, 4, 73, 1780284600000, 1780284600000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (76, 1, 1, 4, 75, 1780286400000, 1780286400000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (77, 1, 1, 4, 75, 1780286400000, 1780286400000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (78, 1, 1, 37, 75, 1780286400000, 1780286400000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (80, 1, 1, 4, 79, 1780288200000, 1780288200000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (82, 1, 1, 4, 81, 1780290000000, 1780290000000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (83, 1, 1, 4, 81, 1780290000000, 1780290000000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (85, 1, 1, 4, 84, 1780291800000, 1780291800000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (86, 1, 1, 4, 84, 1780291800000, 1780291800000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (88, 1, 1, 4, 87, 1780293600000, 1780293600000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (89, 1, 1, 4, 87, 1780293600000, 1780293600000, 'success', null, 'completed');
insert into "attempt" ("run_id", "fence", "ns", "queue_id", "worker_id", "started_at", "ended_at", "outcome", "reason", "ends") values (90, 1, 1, 37, 87, 1780293600000, 1780293600000, 'success', null, 'completed');
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (46, 1, 1, '{"did":{"routine":"paid","delivery":"e-218","type":null,"receivedAt":"2026-06-01T00:00:00.000Z","event":{"type":"paid","amount":5}}}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (47, 1, 1, '{"did":{"day":1}}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (52, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (55, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (56, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (59, 1, 1, '{"exitCode":0,"signal":null,"durationMs":0}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (61, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (63, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (64, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (65, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (67, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (69, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (70, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (72, 1, 1, '{"exitCode":0,"signal":null,"durationMs":0}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (74, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (76, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (77, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (78, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (80, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (82, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (83, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (85, 1, 1, '{"did":{"of":"calendar"}}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (86, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (88, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (89, 1, 1, '{"did":"nothing"}', 0);
insert into "result" ("run_id", "ns", "fence", "body", "truncated") values (90, 1, 1, '{"did":"nothing"}', 0);
insert into "idempotency" ("ns", "key", "run_id", "input_hash", "created_at") values (1, 'day 1', 47, 'G8ppwa1_s7H2F_d8q3yveJPEKIuAPYI8Tb8R3NOK46A', 1780272000000);
insert into "dedupe" ("ns", "key", "run_id") values (1, 'mail', 97);
insert into "worker" ("id", "ns", "name", "host", "pid", "pid_started_at", "boot_id", "pid_namespace", "can", "slots", "started_at", "beat_at", "beat_ms", "stopped_at", "is_host", "died_at", "lost") values (50, 1, 'earlier', 'earlier.example', 7, '480646', 'earlier', 'earlier', '{"kinds":["command","http"],"handlers":["work","fails","hangs"]}', null, 1780272000000, 1780272000000, 60000, 1780272000000, 0, null, null);
insert into "worker" ("id", "ns", "name", "host", "pid", "pid_started_at", "boot_id", "pid_namespace", "can", "slots", "started_at", "beat_at", "beat_ms", "stopped_at", "is_host", "died_at", "lost") values (51, 1, 'earlier', 'earlier.example', 7, '480646', 'earlier', 'earlier', '{"kinds":["command","http"],"handlers":["work","fails","hangs"]}', null, 1780273800000, 1780273800000, 60000, 1780273800000, 0, null, null);
insert into "worker" ("id", "ns", "name", "host", "pid", "pid_started_at", "boot_id", "pid_namespace", "can", "slots", "started_at", "beat_at", "beat_ms", "stopped_at", "is_host", "died_at", "lost") values (53, 1, 'earlier', 'earlier.example', 7, '480646', 'earlier', 'earlier', '{"kinds":["command","http"],"handlers":["work","fails","hangs"]}', null, 1780275600000, 1780275600000, 60000, 1780275600000, 0, null, null);
insert into "worker" ("id", "ns", "name", "host", "pid", "pid_started_at", "boot_id", "pid_namespace", "can", "slots", "started_at", "beat_at", "beat_ms", "stopped_at", "is_host", "died_at", "lost") values (60, 1, 'earlier', 'earlier.example', 7, '480646', 'earlier', 'earlier', '{"kinds":["command","http"],"handlers":["work","fails","hangs"]}', null, 1780277400000, 1780277400000, 60000, 1780277400000, 0, null, null);
insert into "worker" ("id", "ns", "name", "host", "pid", "pid_started_at", "boot_id", "pid_namespace", "can", "slots", "started_at", "beat_at", "beat_ms", "stopped_at", "is_host", "died_at", "lost") values (62, 1, 'earlier', 'earlier.example', 7, '480646', 'earlier', 'earlier', '{"kinds":["command","http"],"handlers":["work","fails","hangs"]}', null, 1780279200000, 1780279200000, 60000, 1780279200000, 0, null, null);
insert into "worker" ("id", "ns", "name", "host", "pid", "pid_started_at", "boot_id", "pid_namespace", "can", "slots", "started_at", "beat_at", "beat_ms", "stopped_at", "is_host", "died_at", "lost") values (66, 1, 'earlier', 'earlier.example', 7, '480646', 'earlier', 'earlier', '{"kinds":["command","http"],"handlers":["work","fails","hangs"]}', null, 1780281000000, 1780281000000, 60000, 1780281000000, 0, null, null);
insert into "worker" ("id", "ns", "name", "host", "pid", "pid_started_at", "boot_id", "pid_namespace", "can", "slots", "started_at", "beat_at", "beat_ms", "stopped_at", "is_host", "died_at", "lost") values (68, 1, 'earlier', 'earlier.example', 7, '480646', 'earlier', 'earlier', '{"kinds":["command","http"],"handlers":["work","fails","hangs"]}', null, 1780282800000, 1780282800000, 60000, 1780282800000, 0, null, null);
insert into "worker" ("id", "ns", "name", "host", "pid", "pid_started_at", "boot_id", "pid_namespace", "can", "slots", "started_at", "beat_at", "beat_ms", "stopped_at", "is_host", "died_at", "lost") values (73, 1, 'earlier', 'earlier.example', 7, '480646', 'earlier', 'earlier', '{"kinds":["command","http"],"handlers":["work","fails","hangs"]}', null, 1780284600000, 1780284600000, 60000, 1780284600000, 0, null, null);
insert into "worker" ("id", "ns", "name", "host", "pid", "pid_started_at", "boot_id", "pid_namespace", "can", "slots", "started_at", "beat_at", "beat_ms", "stopped_at", "is_host", "died_at", "lost") values (75, 1, 'earlier', 'earlier.example', 7, '480646', 'earlier', 'earlier', '{"kinds":["command","http"],"handlers":["work","fails","hangs"]}', null, 1780286400000, 1780286400000, 60000, 1780286400000, 0, null, null);
insert into "worker" ("id", "ns", "name", "host", "pid", "pid_started_at", "boot_id", "pid_namespace", "can", "slots", "started_at", "beat_at", "beat_ms", "stopped_at", "is_host", "died_at", "lost") values (79, 1, 'earlier', 'earlier.example', 7, '480646', 'earlier', 'earlier', '{"kinds":["command","http"],"handlers":["work","fails","hangs"]}', null, 1780288200000, 1780288200000, 60000, 1780288200000, 0, null, null);
insert into "worker" ("id", "ns", "name", "host", "pid", "pid_started_at", "boot_id", "pid_namespace", "can", "slots", "started_at", "beat_at", "beat_ms", "stopped_at", "is_host", "died_at", "lost") values (81, 1, 'earlier', 'earlier.example', 7, '480646', 'earlier', 'earlier', '{"kinds":["command","http"],"handlers":["work","fails","hangs"]}', null, 1780290000000, 1780290000000, 60000, 1780290000000, 0, null, null);
insert into "worker" ("id", "ns", "name", "host", "pid", "pid_started_at", "boot_id", "pid_namespace", "can", "slots", "started_at", "beat_at", "beat_ms", "stopped_at", "is_host", "died_at", "lost") values (84, 1, 'earlier', 'earlier.example', 7, '480646', 'earlier', 'earlier', '{"kinds":["command","http"],"handlers":["work","fails","hangs"]}', null, 1780291800000, 1780291800000, 60000, 1780291800000, 0, null, null);
insert into "worker" ("id", "ns", "name", "host", "pid", "pid_started_at", "boot_id", "pid_namespace", "can", "slots", "started_at", "beat_at", "beat_ms", "stopped_at", "is_host", "died_at", "lost") values (87, 1, 'earlier', 'earlier.example', 7, '480646', 'earlier', 'earlier', '{"kinds":["command","http"],"handlers":["work","fails","hangs"]}', null, 1780293600000, 1780293600000, 60000, 1780293600000, 0, null, null);
insert into "worker" ("id", "ns", "name", "host", "pid", "pid_started_at", "boot_id", "pid_namespace", "can", "slots", "started_at", "beat_at", "beat_ms", "stopped_at", "is_host", "died_at", "lost") values (103, 1, 'earlier', 'earlier.example', 7, '480646', 'earlier', 'earlier', '{"kinds":["command","http"],"handlers":["work","fails","hangs"]}', 4, 1780293600000, 1780293600000, 60000, null, 0, null, null);
insert into "worker" ("id", "ns", "name", "host", "pid", "pid_started_at", "boot_id", "pid_namespace", "can", "slots", "started_at", "beat_at", "beat_ms", "stopped_at", "is_host", "died_at", "lost") values (107, 1, 'printer-1', 'printer-1', null, null, null, null, '{"kinds":[],"host":true}', null, 1780293600000, 1780293600000, 300000, null, 1, null, null);
insert into "duty" ("ns", "name", "worker_id", "expires_at") values (1, 'reconcile', 87, 1780293780000);
insert into "duty" ("ns", "name", "worker_id", "expires_at") values (1, 'retention', 87, 1780293780000);
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (3, 1, 1780272000000, 'root', 'library', 'queue.create', 'queue once', '{"policy":{"maxAttempts":1}}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (6, 1, 1780272000000, 'root', 'library', 'schedule.create', 'schedule calendar', '{"version":1}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (8, 1, 1780272000000, 'root', 'library', 'schedule.create', 'schedule interval', '{"version":1}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (10, 1, 1780272000000, 'root', 'library', 'schedule.create', 'schedule grid', '{"version":1}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (12, 1, 1780272000000, 'root', 'library', 'schedule.create', 'schedule one-shot', '{"version":1}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (14, 1, 1780272000000, 'root', 'library', 'schedule.create', 'schedule by-hand', '{"version":1}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (16, 1, 1780272000000, 'root', 'library', 'schedule.create', 'schedule hinted', '{"version":1}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (20, 1, 1780272000000, 'root', 'library', 'schedule.create', 'schedule failing', '{"version":1}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (22, 1, 1780272000000, 'root', 'library', 'schedule.create', 'schedule held', '{"version":1}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (24, 1, 1780272000000, 'root', 'library', 'schedule.create', 'schedule resting', '{"version":1}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (26, 1, 1780272000000, 'root', 'library', 'schedule.create', 'schedule old', '{"version":1}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (27, 1, 1780272000000, 'root', 'library', 'schedule.update', 'schedule interval', '{"version":2,"changed":["description"]}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (28, 1, 1780272000000, 'root', 'library', 'schedule.pause', 'schedule resting', '{"reason":"It rests."}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (29, 1, 1780272000000, 'root', 'library', 'schedule.delete', 'schedule old', null);
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (33, 30, 1780272000000, 'root', 'library', 'schedule.create', 'schedule tenant', '{"version":1}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (34, 1, 1780272000000, 'root', 'library', 'store.notify', 'namespace default', '{"onFailure":{"command":["true"]}}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (36, 1, 1780272000000, 'root', 'library', 'token.create', 'token ci', '{"id":"t-1z","scope":"operate","expiresAt":null}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (38, 1, 1780272000000, 'root', 'library', 'queue.create', 'queue reports', '{"policy":{"maxConcurrent":3},"notify":{}}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (40, 1, 1780272000000, 'root', 'library', 'schedule.create', 'schedule managed', '{"version":1}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (41, 1, 1780272000000, 'root', 'library', 'config.apply', 'source ops', '{"file":"a request","created":2}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (43, 1, 1780272000000, 'root', 'library', 'routine.create', 'routine paid', null);
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (94, 1, 1780293600000, 'root', 'library', 'schedule.pause', 'schedule held', '{"reason":"The disk is full.","until":1780318800000}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (96, 1, 1780293600000, 'root', 'library', 'queue.create', 'queue mail', '{"policy":{"maxConcurrent":1}}');
insert into "audit" ("id", "ns", "at", "actor", "door", "verb", "subject", "detail") values (98, 1, 1780293600000, 'root', 'library', 'queue.update', 'queue mail', '{"paused":{"reason":"The server moves."}}');
insert into "token" ("id", "ns", "name", "hash", "scope", "created_at", "created_by", "expires_at", "revoked_at", "used_at", "managed_by") values (35, 1, 'ci', 'iQJcr_JaxWlhrj0bPsFXn9jEoTcCyYxrCez3bANe1zg', 'operate', 1780272000000, 'root', null, null, null, null);
insert into "config" ("ns", "source", "hash", "file", "tokens", "applied_at", "actor", "door") values (1, 'ops', '25248cb3ac770a481cc168ee9624b390724609d4d5d0269a093f74601425ce6f', 'a request', '{}', 1780272000000, 'root', 'library');
insert into "config_content" ("ns", "source", "hash", "applied_at") values (1, 'ops', '25248cb3ac770a481cc168ee9624b390724609d4d5d0269a093f74601425ce6f', 1780272000000);
insert into "config_content" ("ns", "source", "hash", "applied_at") values (1, 'ops', 'f22245a9f398df20b792c059d5574b448b2e39f2d5a99fcce5c2553e6bdb157a', 1780272000000);
insert into "routine" ("id", "ns", "name", "spec", "disabled_at", "disabled_reason", "created_at", "created_by", "updated_at", "deleted_at") values (42, 1, 'paid', '{"match":{"type":"paid"},"run":{"target":{"handler":"work"}}}', null, null, 1780272000000, 'root', 1780272000000, null);
insert into "routine_event" ("id", "ns", "routine_id", "delivery_id", "at", "type", "outcome", "reason", "run_id", "repeats", "actor", "door", "payload", "is_cut") values (44, 1, 42, 'e-218', 1780272000000, null, 'fired', null, 46, 0, 'root', 'library', '{"type":"paid","amount":5}', 0);
insert into "notice" ("ns", "subject", "subject_id", "event", "last_at", "quiet_until", "suppressed", "is_open") values (1, 'schedule', 19, 'failure', 1780282800000, 1780283100000, 0, 1);
CREATE UNIQUE INDEX schedule_name on schedule (ns, name) where deleted_at is null;
CREATE INDEX schedule_wake on schedule (wake_at, id) where wake_at is not null;
CREATE INDEX schedule_wake_of_namespace on schedule (ns, wake_at, id) where wake_at is not null;
CREATE INDEX schedule_asleep on schedule (id)
      where wake_at is null and deleted_at is null and disabled_at is null and is_done = 0;
CREATE INDEX hint_of_schedule on hint (schedule_id, id);
CREATE UNIQUE INDEX run_occurrence on run (schedule_id, occurrence_at) where occurrence_at is not null;
CREATE INDEX ready_key on ready (queue_id, concurrency_key, need_id, priority, enqueued_at, run_id)
      where concurrency_key is not null;
CREATE INDEX aside_waiting on aside (queue_id, at, run_id) where kind = 'waiting';
CREATE INDEX aside_key on aside (queue_id, concurrency_key, need_id, priority, enqueued_at, run_id)
      where kind = 'key';
CREATE INDEX aside_parked on aside (queue_id, at, run_id) where kind = 'parked';
CREATE INDEX lease_queue on lease (queue_id);
CREATE INDEX lease_cancel on lease (worker_id) where cancel_requested_at is not null;
CREATE INDEX lease_key on lease (queue_id, concurrency_key) where concurrency_key is not null;
CREATE INDEX attempt_ends on attempt (queue_id, ends, ended_at, run_id) where ends is not null;
CREATE INDEX idempotency_age on idempotency (created_at);
CREATE INDEX worker_live on worker (ns, id) where stopped_at is null;
CREATE UNIQUE INDEX worker_host on worker (ns, name) where is_host = 1;
CREATE INDEX claim_age on claim (created_at);
CREATE UNIQUE INDEX token_name on token (ns, name) where revoked_at is null;
CREATE INDEX attempt_goes_on on attempt (queue_id, ended_at, run_id, fence) where ends is null;
CREATE INDEX run_fired on run (ns, enqueued_at, id) where schedule_id is not null;
CREATE INDEX audit_at on audit (ns, at, id);
CREATE INDEX schedule_managed on schedule (ns, managed_by, name)
      where managed_by is not null and deleted_at is null;
CREATE UNIQUE INDEX routine_name on routine (ns, name) where deleted_at is null;
CREATE UNIQUE INDEX routine_event_delivery on routine_event (routine_id, delivery_id);
CREATE INDEX notice_last on notice (ns, last_at) where last_at is not null;
CREATE INDEX notice_open on notice (ns, subject_id, event) where is_open = 1;
CREATE INDEX run_made on run (ns, enqueued_at, id) where schedule_id is null;
CREATE INDEX run_made_by on run (schedule_id, enqueued_at, id) where schedule_id is not null;
CREATE INDEX aside_made on aside (ns, enqueued_at, run_id) where kind <> 'parked';
CREATE INDEX audit_subject_at on audit (ns, subject, at, id);
CREATE INDEX routine_event_at on routine_event (routine_id, at, id);
commit;

/**
 * Three shapes for the live state of runs, as small as they can be made, to choose one by measurement:
 * `wide` is one run row updated in place, with partial indexes; `live` keeps the definition apart from one narrow row
 * that is updated; `lines` moves a run between narrow tables (in line, leased) and never updates anything.
 */
export const shapes = ['wide', 'live', 'lines']

export function tables(shape, { big, clustered }) {
  const attempt = `create table attempt(run ${big} not null, fence int not null, started ${big}, ended ${big}, outcome int,
    primary key(run, fence))${clustered};`
  const schedule = `create table schedule(id int primary key, next_at ${big}, name text, spec text);
    create index schedule_next on schedule(next_at);`
  const definition = `id ${big} primary key, queue int not null, priority int not null, enq ${big} not null,
    schedule int, occ ${big}, target text, payload text`
  const unique = 'create unique index run_occ on run(schedule, occ) where occ is not null;'
  const own = {
    wide: `create table run(${definition}, state int not null, eligible ${big}, fence int not null default 0,
        attempts int not null default 0, claim text, worker int, expires ${big}, ended ${big}, result text);
      create index run_ready on run(queue, priority, enq, id) where state = 0;
      create index run_leased on run(queue) where state = 1;`,
    live: `create table run(${definition});
      create table live(run ${big} primary key, queue int not null, state int not null, priority int not null,
        enq ${big} not null, fence int not null default 0, attempts int not null default 0, claim text, worker int,
        started ${big}, expires ${big});
      create index live_ready on live(queue, priority, enq, run) where state = 0;
      create index live_leased on live(queue) where state = 1;`,
    lines: `create table run(${definition});
      create table ready(queue int not null, need int not null, priority int not null, enq ${big} not null,
        run ${big} not null, fence int not null, attempts int not null,
        primary key(queue, need, priority, enq, run))${clustered};
      create table lease(run ${big} primary key, queue int not null, fence int not null, attempts int not null,
        claim text not null, worker int, started ${big}, expires ${big} not null);
      create index lease_queue on lease(queue);`,
  }[shape]
  return attempt + schedule + own + unique
}

export const target = '{"handler":"noop"}'
export const payload = JSON.stringify({ x: 'y'.repeat(80) })
export const ceiling = 500
export const leaseMs = 30_000

import type { Migration } from '../../store/migrations/migration.ts'

const fields = ['onFailure', 'onPark', 'onRecover', 'onOverdue']

/**
 * Where an object has its receivers before this migration makes them fields of its own: in its field `notify`, or in the
 * column `notify` beside it.
 */
interface Moving {
  readonly table: string
  readonly key: readonly string[]
  readonly column: string
  readonly from: 'field' | 'column'
}

/** A row that cannot be read stays as it is. */
function inSqlite({ table, column, from }: Moving): string[] {
  const [found, path] = from === 'field' ? [column, '$.notify'] : ['notify', '$']
  const isThere = (at: string) =>
    `where case when json_valid(${column}) and json_valid(${found}) then json_type(${found}, '${at}') = 'object' else 0 end`
  const left = from === 'field' ? `${column} = json_remove(${column}, '$.notify')` : 'notify = null'
  return [
    ...fields.map((field) => {
      const moved = `json_set(${column}, '$.${field}', json_extract(${found}, '${path}.${field}'))`
      return `update belfry.${table} set ${column} = ${moved} ${isThere(`${path}.${field}`)}`
    }),
    `update belfry.${table} set ${left} ${isThere(path)}`,
  ]
}

/**
 * The same. Texts are put together and never read as jsonb, which refuses some of them. The functions of json refuse the same while they look
 * for a field, so that each backslash of such an escape is doubled meanwhile.
 */
function inPostgres({ table, key, column, from }: Moving): string {
  const isOfField = from === 'field'
  const json = (text: string) => `replace(${text}, '\\u', '\\\\u')::json`
  const members = (object: string) =>
    `select string_agg(to_json(m.key)::text || ':' || m.value::text, ',') from json_each(${object}) m`
  const read = [...key, column, ...(isOfField ? [] : ['notify'])].join(', ')
  return `do $$
    declare
      one record;
      found json;
    begin
      for one in select ${read} from belfry.${table} where ${isOfField ? `${column} like '%"notify"%'` : 'notify is not null'} loop
        begin
          found := ${isOfField ? `${json(`one.${column}`)} -> 'notify'` : json('one.notify')};
          if json_typeof(found) = 'object' then
            update belfry.${table} t set ${isOfField ? '' : 'notify = null, '}${column} = replace('{' || concat_ws(',',
              (${members(json(`one.${column}`))} where m.key <> 'notify'), (${members('found')})) || '}', '\\\\u', '\\u')
            where ${key.map((name) => `t.${name} = one.${name}`).join(' and ')};
          end if;
        exception when others then null;
        end;
      end loop;
    end $$`
}

const nothing = 'select 1'

function moved(moving: Moving): Migration['statements'] {
  return inSqlite(moving).map((sqlite, index) => ({ sqlite, postgres: index === 0 ? inPostgres(moving) : nothing }))
}

/**
 * The newest version of a queue's policy gets the same fields as the policy, so that the next change is compared with the
 * receivers.
 */
const newestVersions = `update belfry.queue_version set policy = (select q.policy from belfry.queue q where q.id = queue_version.queue_id)
  where exists (select 1 from belfry.queue q where q.id = queue_version.queue_id and q.policy_version = queue_version.version
    and q.policy <> queue_version.policy)`

/**
 * Makes the receivers of a schedule and of a queue fields of its spec and of its policy, as all fields are that parts add. The column
 * `notify` of queues stays, empty: a worker of an earlier version that is still running reads and writes it.
 */
export const receivers: Migration = {
  version: 17,
  name: 'receivers',
  statements: [
    ...moved({ table: 'schedule', key: ['id'], column: 'spec', from: 'field' }),
    ...moved({ table: 'schedule_version', key: ['schedule_id', 'version'], column: 'spec', from: 'field' }),
    ...moved({ table: 'queue', key: ['id'], column: 'policy', from: 'column' }),
    newestVersions,
  ],
}

import type { Migration } from './migration.ts'

/** API tokens. Only a hash of each secret is stored. */
export const tokens: Migration = {
  version: 4,
  name: 'tokens',
  statements: [
    `create table belfry.token (
      id {row id},
      ns bigint not null,
      name {text} not null,
      hash {text} not null,
      scope {text} not null,
      created_at bigint not null,
      created_by {text} not null,
      expires_at bigint,
      revoked_at bigint,
      used_at bigint
    )`,
    'create unique index token_name on belfry.token (ns, name) where revoked_at is null',
  ],
}

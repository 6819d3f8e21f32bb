/** What a file would have a machine do that its owner should know of, by where it says so. */
export interface Program {
  /** `schedules.nightly.target`. */
  readonly where: string
  readonly what: string
}

const programKinds = ['command', 'agent'] as const
/** What is handed on as it is, and is no target whatever it looks like. */
const data: ReadonlySet<string> = new Set(['payload', 'http', 'expect', 'env'])

/** Finds every program that a document would start, at whatever depth a target stands, and a door that it would open wide. */
export function programsIn(value: unknown, where = ''): Program[] {
  if (where === 'server') return opensDoor(value) ? [{ where, what: 'listens beyond this machine' }] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const place = where === '' ? key : `${where}.${key}`
    if (programKinds.some((kind) => kind === key) && !isEntry(where)) {
      return [{ where, what: typeof inner === 'string' ? inner : JSON.stringify(inner) }]
    }
    return data.has(key) && !isEntry(where) ? [] : programsIn(inner, place)
  })
}

function opensDoor(server: unknown): boolean {
  return (server as { readonly behindProxy?: unknown } | null)?.behindProxy === true
}

/** Where the names are those of schedules, queues and tokens, which may be called anything. */
function isEntry(where: string): boolean {
  return where === 'schedules' || where === 'queues' || where === 'tokens'
}

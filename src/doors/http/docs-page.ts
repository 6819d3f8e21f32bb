import { errorCodes } from '../../operations/error-codes.ts'
import { type Route, routes } from '../../routes.ts'
import { nouns, pluralOf } from '../../table.ts'
import { fieldsOf, formsTable } from './docs-fields.ts'
import { docsPolicy, docsScript, docsStyle } from './docs-style.ts'
import { escaped } from './escaped.ts'

export function docsResponse(html: string): Response {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': docsPolicy,
    // The page contains the address it was requested by, so a cache must not share it.
    'cache-control': 'no-store',
  }
  return new Response(html, { headers })
}

interface Group {
  readonly plural: string
  readonly says: string
  readonly own: readonly Route[]
}

function groupsOf(): readonly Group[] {
  return Object.values(nouns)
    .map(({ plural, says }) => ({
      plural,
      says,
      own: routes.filter(({ operation }) => pluralOf(operation.noun) === plural),
    }))
    .filter(({ own }) => own.length > 0)
}

/** A page for people, made from the table; the response fills in the address of the request. */
export function docsPage(version: string, basePath: string): (address: string) => string {
  const groups = groupsOf()
  const forms = new Map()
  const verbs = groups.map((group) => nounTold(group, basePath, forms)).join('')
  const told = formsTable(forms)
  return (
    address,
  ) => `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Belfry ${escaped(version)}: the HTTP door</title><style>${docsStyle}</style></head><body><div class="page">
${contents(groups)}
<main><div class="search" hidden><input type="search" placeholder="Search verbs and fields" aria-label="Search verbs and fields"> <output></output></div>
<div class="prose"><h1>Belfry: the HTTP door</h1>
<p>This server answers at <code>${escaped(address + basePath)}</code>. Every verb of Belfry, as plain JSON. The same as data: <a href="${basePath}/openapi.json">openapi.json</a>.
Instants are ISO texts with an offset, durations are texts such as <code>90s</code>, and unknown fields are refused.</p>
<h2 id="begin">Begin</h2>
<p>Every request shows a token. The server has written one to <code>.belfry/token</code>; <code>belfry token create NAME</code> makes others.</p>
${story(address + basePath)}
<h2 id="errors">Errors</h2>
<p>An error is <code>application/problem+json</code>: <code>code</code> tells its kind, <code>detail</code> what happened, <code>hint</code> what to do, and
<code>details.problems</code> everything that is wrong with an input.</p>
<table><tbody>${Object.entries(errorCodes).map(errorRow).join('')}</tbody></table></div>
${verbs}
<div class="prose"><h2 id="forms">Forms</h2><p>Fields that several verbs share.</p>${told}</div>
</main></div><script>${docsScript}</script></body></html>`
}

function contents(groups: readonly Group[]): string {
  const items = groups.map(({ plural, own }) => {
    const verbs = own.map(({ operation: { noun, verb } }) => {
      const id = `${noun}.${verb}`
      return `<li data-verb="${id}"><a href="#${id}">${verb}</a></li>`
    })
    return `<li><a href="#${plural}">${plural}</a><ul>${verbs.join('')}</ul></li>`
  })
  return `<nav aria-label="Contents"><details open><summary>Contents</summary><ul>
<li><a href="#begin">Begin</a></li><li><a href="#errors">Errors</a></li>${items.join('')}<li><a href="#forms">Forms</a></li></ul></details></nav>`
}

function nounTold({ plural, says, own }: Group, basePath: string, forms: Parameters<typeof fieldsOf>[1]): string {
  const verbs = own.map((route) => verbTold(route, basePath, forms)).join('')
  return `<section class="noun"><h2 id="${plural}">${plural}</h2><p>${escaped(says)}</p>${verbs}</section>`
}

/** The first steps, in their order; a test types them. */
export function storyBlocks(address: string): readonly { readonly says: string; readonly block: string }[] {
  const auth = '-H "Authorization: Bearer $TOKEN"'
  const json = `-H 'content-type: application/json'`
  return [
    {
      says: 'The address of the server, and your token:',
      block: `BELFRY=${address}\nTOKEN=$(cat .belfry/token)`,
    },
    { says: 'Check the health of the server:', block: `curl -sS ${auth} "$BELFRY/health"` },
    {
      says: 'Create a schedule that calls a URL every two seconds:',
      block: `curl -sS ${auth} ${json} "$BELFRY/api/schedules" \\\n  -d '{"name":"ping","every":"2s","startNow":true,"target":{"http":{"url":"${address}/live"}}}'`,
    },
    {
      says: 'Follow events. To continue after the last event, send its id as Last-Event-ID:',
      block: `curl -sSN --max-time 3 ${auth} "$BELFRY/api/events" || true`,
    },
    { says: 'Show its next occurrences:', block: `curl -sS ${auth} "$BELFRY/api/schedules/ping/next?count=3"` },
    { says: 'List its runs:', block: `curl -sS ${auth} "$BELFRY/api/runs?schedule=ping&limit=5"` },
    {
      says: 'Pause it:',
      block: `curl -sS ${auth} ${json} "$BELFRY/api/schedules/ping/pause" -d '{"for":"1h","reason":"Lunch."}'`,
    },
    { says: 'Explain its state:', block: `curl -sS ${auth} "$BELFRY/api/schedules/ping/explain"` },
  ]
}

function story(address: string): string {
  return storyBlocks(address)
    .map(({ says, block }) => `<p>${escaped(says)}</p><pre><code>${escaped(block)}</code></pre>`)
    .join('')
}

function errorRow([code, { status, says }]: [string, { readonly status: number; readonly says: string }]): string {
  return `<tr id="error-${code}"><td><code>${code}</code></td><td>${status}</td><td>${escaped(says)}</td></tr>`
}

function verbTold(route: Route, basePath: string, forms: Parameters<typeof fieldsOf>[1]): string {
  const { operation, method, path } = route
  const { noun, verb, says, scope } = operation
  const blocks = operation.examples.map((example) => `<pre><code>${escaped(curlOf(route, example))}</code></pre>`)
  return `<section class="verb" id="${noun}.${verb}"><h3><span class="method">${method}</span><code>${escaped(basePath + path)}</code></h3>
<p>${escaped(says)} <span class="scope">Needs ${scope}.</span></p>${fieldsOf(route, forms)}${blocks.join('')}</section>`
}

export function curlOf({ method, path, subject }: Route, example: object): string {
  const { [subject ?? '']: about, ...rest } = example as Readonly<Record<string, unknown>>
  const placed = path.replace(/\{\w+\}/, () => encodeURIComponent(String(about ?? '')))
  const isRead = method === 'GET' || method === 'DELETE'
  const query = new URLSearchParams(
    Object.entries(rest).map(([name, value]): [string, string] => [name, queryText(value)]),
  ).toString()
  const url = `"$BELFRY${placed}${isRead && query !== '' ? `?${query}` : ''}"`
  const how = ['curl -sS', ...(method === 'GET' || method === 'POST' ? [] : [`-X ${method}`])]
  const parts = [...how, '-H "Authorization: Bearer $TOKEN"', url]
  if (isRead) return parts.join(' ')
  if (method === 'POST' && Object.keys(rest).length === 0) parts.splice(1, 0, '-X POST')
  const body =
    Object.keys(rest).length === 0
      ? []
      : [`-H 'content-type: application/json'`, `-d ${shellQuoted(JSON.stringify(rest))}`]
  return [...parts, ...body].join(' ')
}

function queryText(value: unknown): string {
  return typeof value === 'string' ? value : Array.isArray(value) ? value.join(',') : JSON.stringify(value)
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

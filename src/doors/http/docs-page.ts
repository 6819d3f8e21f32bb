import { createHash } from 'node:crypto'
import { errorCodes } from '../../operations/error-codes.ts'
import { type Route, routes } from '../../operations/route.ts'
import { nouns } from '../../operations/table.ts'

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1d2430; background: #fff }
h1, h2, h3 { line-height: 1.2 } h3 { margin: 2rem 0 .3rem } h2 { margin-top: 3rem; border-bottom: 1px solid #d7dce3 }
pre { background: #f4f6f8; padding: .7rem 1rem; overflow-x: auto; border-radius: 6px } code { font: 14px/1.45 ui-monospace, monospace }
.method { display: inline-block; min-width: 4.5rem; font-weight: 600; color: #0b5cad } .scope { color: #5b6573 }
table { border-collapse: collapse } td { padding: .2rem .8rem .2rem 0; vertical-align: top } a { color: #0b5cad }
@media (prefers-color-scheme: dark) {
  body { color: #e4e8ee; background: #14181f } pre { background: #1f2630 } h2 { border-color: #343d4a }
  .method, a { color: #7ab8ff } .scope { color: #9aa5b4 }
}`
const styleHash = createHash('sha256').update(style).digest('base64')

/** The page as it is sent: it loads nothing from anywhere, and may run nothing. */
export function docsResponse(html: string): Response {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'`,
  }
  return new Response(html, { headers })
}

/** A page for people, made of nothing but the table. */
export function docsHtml(version: string, basePath: string): string {
  const groups = Object.values(nouns).map(({ plural, says }) => {
    const own = routes.filter(({ operation }) => nouns[operation.noun].plural === plural)
    if (own.length === 0) return ''
    return `<h2 id="${plural}">${plural}</h2><p>${escaped(says)}</p>${own.map((route) => sectionOf(route, basePath)).join('')}`
  })
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Belfry ${escaped(version)}: the HTTP door</title><style>${style}</style></head><body>
<h1>Belfry: the HTTP door</h1>
<p>Every verb of Belfry, as plain JSON. The same as data: <a href="${basePath}/openapi.json">openapi.json</a>. Instants are ISO texts with an
offset, durations are texts such as <code>90s</code>, and what is not known is refused.</p>
<h2 id="begin">Begin</h2>
<p>Every request shows a token. The server has written one to <code>.belfry/token</code>; <code>belfry token create NAME</code> makes others.</p>
${story(basePath)}
<h2 id="errors">Errors</h2>
<p>An error is <code>application/problem+json</code>: <code>code</code> tells its kind, <code>detail</code> what happened, <code>hint</code> what to do, and
<code>details.problems</code> everything that is wrong with an input.</p>
<table>${Object.entries(errorCodes).map(errorRow).join('')}</table>
${groups.join('')}
</body></html>`
}

/** The first steps, in their order; a test types them. */
export function storyBlocks(): readonly { readonly says: string; readonly block: string }[] {
  const auth = '-H "Authorization: Bearer $TOKEN"'
  const json = `-H 'content-type: application/json'`
  return [
    {
      says: 'Where it listens, and who asks:',
      block: 'BELFRY=http://127.0.0.1:4747\nTOKEN=$(cat .belfry/token)',
    },
    { says: 'Whether all is well:', block: `curl -sS ${auth} "$BELFRY/health"` },
    {
      says: 'A schedule that calls an address every two seconds:',
      block: `curl -sS ${auth} ${json} "$BELFRY/api/schedules" \\\n  -d '{"name":"ping","every":"2s","startNow":true,"target":{"http":{"url":"http://127.0.0.1:4747/live"}}}'`,
    },
    {
      says: 'What happens, as it happens; the last id that was heard, sent as Last-Event-ID, goes on from there:',
      block: `curl -sSN --max-time 3 ${auth} "$BELFRY/api/events" || true`,
    },
    { says: 'When it comes next:', block: `curl -sS ${auth} "$BELFRY/api/schedules/ping/next?count=3"` },
    { says: 'What has run:', block: `curl -sS ${auth} "$BELFRY/api/runs?schedule=ping&limit=5"` },
    {
      says: 'A pause:',
      block: `curl -sS ${auth} ${json} "$BELFRY/api/schedules/ping/pause" -d '{"for":"1h","reason":"Lunch."}'`,
    },
    { says: 'Why it stands as it does:', block: `curl -sS ${auth} "$BELFRY/api/schedules/ping/explain"` },
  ]
}

function story(basePath: string): string {
  return storyBlocks()
    .map(
      ({ says, block }) =>
        `<p>${escaped(says)}</p><pre><code>${escaped(block.replaceAll('4747/', `4747${basePath}/`))}</code></pre>`,
    )
    .join('')
}

function errorRow([code, { status, says }]: [string, { readonly status: number; readonly says: string }]): string {
  return `<tr id="error-${code}"><td><code>${code}</code></td><td>${status}</td><td>${escaped(says)}</td></tr>`
}

function sectionOf(route: Route, basePath: string): string {
  const { operation, method, path } = route
  const { noun, verb, says, scope } = operation
  const blocks = operation.examples.map(
    (example) => `<pre><code>${escaped(curlOf(route, example, basePath))}</code></pre>`,
  )
  return `<h3 id="${noun}.${verb}"><span class="method">${method}</span> <code>${escaped(basePath + path)}</code></h3>
<p>${escaped(says)} <span class="scope">Needs ${scope}.</span></p>${blocks.join('')}`
}

/** An example as it is typed. */
export function curlOf({ method, path, subject }: Route, example: object, basePath = ''): string {
  const { [subject ?? '']: about, ...rest } = example as Readonly<Record<string, unknown>>
  const placed = basePath + path.replace(/\{\w+\}/, () => encodeURIComponent(String(about ?? '')))
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

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

import { createHash } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HttpDoor } from '../../../src/doors/http/http-door.ts'
import { addressUnknown, requestAddress } from '../../../src/doors/http/request-address.ts'
import { kinds } from '../../../src/kinds.ts'
import { jsonSchemaOf } from '../../../src/operations/schema/json-schema.ts'
import { routes } from '../../../src/routes.ts'
import { operations } from '../../../src/table.ts'
import { onPorch } from './porch.ts'

const porch = onPorch()
const page = async () => (await porch().ask('/docs', { as: null })).text()

/** A door that is mounted at a path, and takes requests for whatever host. */
function mounted(basePath: string): HttpDoor {
  const { context, events } = porch().desk
  const door = new HttpDoor({ context, events, version: '1.2.3', basePath })
  onTestFinished(() => door.close())
  return door
}

describe('/docs speaks of the server that serves it', () => {
  it('with the address, port and base path by which it was asked for, and no other', async () => {
    const response = await mounted('/belfry').fetch(new Request('http://box.example:5858/belfry/docs'))
    const text = await response.text()
    expect(text).toContain('BELFRY=http://box.example:5858/belfry\n')
    expect(text).toContain('&quot;url&quot;:&quot;http://box.example:5858/belfry/live&quot;')
    expect(text).toContain('<code>/belfry/api/schedules</code>')
    // The variable has the base path, so that the commands behind it have it not.
    expect(text).not.toContain('$BELFRY/belfry')
    expect(text).not.toContain('http://127.0.0.1')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await page()).toContain('BELFRY=http://127.0.0.1:4747\n')
  })

  it.each([
    ['the host that was asked for', {}, 'http://box.example:5858'],
    ['TLS, where a proxy says so', { 'x-forwarded-proto': 'https' }, 'https://box.example:5858'],
    [
      'no host that a header claims',
      { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' },
      'http://box.example:5858',
    ],
    ['no other words of a proxy', { 'x-forwarded-proto': 'javascript' }, 'http://box.example:5858'],
    ['an address of six parts', { host: '[::1]:4747' }, 'http://[::1]:4747'],
    ['no host that a shell would read as a command', { host: '$(id).example' }, addressUnknown],
    ['no host that ends the line', { host: 'a;id' }, addressUnknown],
  ])('tells %s', (_, headers, address) => {
    expect(requestAddress(new Request('http://box.example:5858/docs', { headers }))).toBe(address)
  })

  it('and what a proxy says never turns TLS off', () => {
    const headers = { 'x-forwarded-proto': 'http' }
    expect(requestAddress(new Request('https://box.example/docs', { headers }))).toBe('https://box.example')
  })

  it.each(['', '/belfry'])(
    'and the address of the server, mounted at "%s", leads a browser there',
    async (basePath) => {
      const door = mounted(basePath)
      for (const path of [basePath, `${basePath}/`]) {
        const response = await door.fetch(new Request(`http://box.example${path}`, { redirect: 'manual' }))
        expect([response.status, response.headers.get('location')]).toEqual([302, `${basePath}/docs`])
      }
      expect((await door.fetch(new Request(`http://box.example${basePath}/docs`))).status).toBe(200)
    },
  )
})

describe('the page of the HTTP door', () => {
  it('has every verb, with each of its fields and the sentence of the field', async () => {
    const text = await page()
    for (const { operation, path } of routes) {
      const { noun, verb, input } = operation
      const id = `${noun}.${verb}`
      const [, section = ''] = text.split(`<section class="verb" id="${id}">`)
      const [own = ''] = section.split('<section class="verb"')
      expect(own, id).toContain(`<code>${path}</code>`)
      for (const [name, field] of Object.entries(jsonSchemaOf(input, 'input', kinds).properties ?? {})) {
        const { description = '' } = field as { description?: string }
        expect(own, `${id} ${name}`).toContain(`<code>${name}</code>`)
        if (!description.startsWith('The same as ')) expect(unescaped(own), `${id} ${name}`).toContain(description)
      }
    }
    expect(routes.map(({ operation }) => operation)).toEqual(
      expect.arrayContaining(operations.filter(({ doors }) => doors.http === true)),
    )
  })

  it('has a table of contents whose links all lead somewhere', async () => {
    const text = await page()
    const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    const links = [...text.matchAll(/<a href="#([^"]+)"/g)].map(([, id]) => id)
    expect(links.filter((id) => !ids.has(id))).toEqual([])
    for (const { operation } of routes) expect(links).toContain(`${operation.noun}.${operation.verb}`)
  })

  it('has a search box whose script the policy allows by its hash, and loads nothing', async () => {
    const response = await porch().ask('/docs', { as: null })
    const policy = response.headers.get('content-security-policy') ?? ''
    const text = await response.text()
    const parts = (tag: string) =>
      [...text.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))].map(([, inner = '']) => inner)
    const hash = (inner: string) => `'sha256-${createHash('sha256').update(inner).digest('base64')}'`
    expect(parts('script')).toHaveLength(1)
    expect(policy).toContain(`script-src ${parts('script').map(hash)}`)
    expect(policy).toContain(`style-src ${parts('style').map(hash)}`)
    expect(policy).toMatch(/^default-src 'none'; /)
    expect(policy).not.toContain('unsafe')
    expect(text).toContain('<input type="search"')
    expect(text).not.toMatch(/<script |<link|<img|\son\w+=|\ssrc=|https?:\/\/(?!127\.0\.0\.1|example\.org)/)
  })

  it('has no line that runs out of a narrow window', async () => {
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(await page()) ?? []
    expect(style).toContain('white-space: pre-wrap')
    expect(style).toContain('overflow-wrap: anywhere')
    expect(style).not.toContain('overflow-x')
  })
})

function unescaped(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

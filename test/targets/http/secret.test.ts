import { describe, expect, it } from 'vitest'
import { caller, witness } from './stage.ts'

const value = 'tok-"7/ü'.replace('ü', 'u')
const env = { BELFRY_SECRET_TOKEN: value, BELFRY_SECRET_LINES: 'one\ntwo-two-two' }

describe('a secret', () => {
  it('is sent in headers and anywhere in a body', async () => {
    const server = await witness()
    const { call } = caller({ env })
    await call({ url: server.url, headers: { 'X-Token': { secret: 'TOKEN' } }, body: { deep: [{ secret: 'TOKEN' }] } })
    await call({ url: server.url, body: { secret: 'TOKEN' } })
    expect(server.seen[0]?.headers['x-token']).toBe(value)
    expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual({ deep: [value] })
    expect(server.seen[1]?.body).toBe(value)
    expect(server.seen[1]?.headers['content-type']).toBeUndefined()
  })

  it('that a server sends back is in nothing that is kept', async () => {
    const server = await witness((request, response) => {
      response.setHeader('content-type', request.url === '/json' ? 'application/json' : 'text/plain')
      response.setHeader('location', `/${encodeURIComponent(value)}`)
      response.setHeader('x-request-id', value)
      response.end(request.url === '/json' ? JSON.stringify({ you: value }) : `you: ${value}`)
    })
    const { call } = caller({ env })
    for (const path of ['/json', '/text']) {
      const ended = await call({ url: server.url + path, headers: { 'X-Token': { secret: 'TOKEN' } } })
      expect(JSON.stringify(ended)).not.toContain('tok-')
      expect(JSON.stringify(ended.result.body)).toContain('you')
      expect(JSON.stringify(ended.result.body)).toContain('[secret TOKEN]')
      expect(ended.facts.text).toContain('[secret TOKEN]')
    }
  })

  it('that is cut off at the end of what is kept leaves no beginning of itself', async () => {
    const server = await witness((_, response) => response.end(`${'x'.repeat(100 * 1024 - 4)}${value}more`))
    const ended = await caller({ env }).call({ url: server.url, body: { secret: 'TOKEN' } })
    expect(ended.result.truncated).toBe(true)
    expect(ended.facts.text).toMatch(/^x+$/)
    expect(JSON.stringify(ended)).not.toContain('tok-')
  })

  it('in the place a server redirects to is not in the error either', async () => {
    const server = await witness((_, response) => {
      response.writeHead(302, { location: 'http://hunter2hunter2.invalid/' }).end()
    })
    const secrets = { BELFRY_SECRET_TOKEN: 'hunter2hunter2' }
    const { facts } = await caller({ env: secrets }).call({ url: server.url, headers: { a: { secret: 'TOKEN' } } })
    expect(facts.error).toMatch(/the name \[secret TOKEN\]\.invalid could not be resolved/)
  })

  it('that is missing stops the run before anything is sent, for the operator to mend', async () => {
    const server = await witness()
    const { facts } = await caller().call({ url: server.url, headers: { a: { secret: 'TOKEN' } } })
    expect(facts).toEqual({ error: expect.stringMatching(/secret TOKEN is missing/), retryable: true })
    expect(server.seen).toEqual([])
  })

  it('that no header can hold stops the run before anything is sent, and is not shown', async () => {
    const server = await witness()
    const { facts } = await caller({ env }).call({ url: server.url, headers: { a: { secret: 'LINES' } } })
    expect(facts).toEqual({
      error: 'the secret for the header a has a character that no header can hold',
      retryable: true,
    })
    expect(server.seen).toEqual([])
  })
})

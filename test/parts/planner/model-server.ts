import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** One answer of the server: tool calls, or something that goes wrong. */
export type Scripted =
  | { readonly calls: readonly (readonly [tool: string, args: unknown])[]; readonly finish?: string }
  | 'garbage'
  | 'endless'
  | 'nothing'
  | 'cut'
  | { readonly status: number; readonly headers?: Record<string, string> }

export interface Asked {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[]
  readonly tool_choice: unknown
  readonly stream?: boolean
  readonly headers: Readonly<Record<string, unknown>>
}

/** A server with the API of OpenAI on loopback, which answers as scripted, one request after the other. */
export async function modelServer(script: readonly Scripted[]): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const given = JSON.parse(body) as Asked
    const step = script[asked.length] ?? 'nothing'
    asked.push({ ...given, headers: request.headers })
    answer(step, response, given.stream === true)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked }
}

const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }

function answer(step: Scripted, response: ServerResponse, isStreamed: boolean): void {
  if (step === 'nothing') return
  if (step === 'cut') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' }).write('{"id":')
    return void response.destroy()
  }
  if (step === 'endless') {
    response.writeHead(200, { 'content-type': 'application/json' })
    const piece = `"${'x'.repeat(64 * 1024)}",`
    response.write('[')
    for (let sent = 0; sent < 10 * 1024 * 1024; sent += piece.length) response.write(piece)
    return void response.end(']')
  }
  if (step === 'garbage')
    return void response.writeHead(200, { 'content-type': 'application/json' }).end('<html>hello</html>')
  if ('status' in step) {
    const error = { error: { message: 'no', type: 'error' } }
    return void response
      .writeHead(step.status, { 'content-type': 'application/json', ...step.headers })
      .end(JSON.stringify(error))
  }
  const tool_calls = step.calls.map(([name, args], index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  }))
  const finish_reason = step.finish ?? 'tool_calls'
  const common = { id: 'c', created: 1, model: 'stand-in' }
  if (!isStreamed) {
    const choices = [{ index: 0, message: { role: 'assistant', content: null, tool_calls }, finish_reason }]
    return void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }))
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const event = (data: object) =>
    response.write(`data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', ...data })}\n\n`)
  event({ choices: [{ index: 0, delta: { role: 'assistant', tool_calls } }] })
  event({ choices: [{ index: 0, delta: {}, finish_reason }], usage })
  response.end('data: [DONE]\n\n')
}

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** One answer of the server: tool calls, or a failure. */
export type Scripted =
  | { readonly calls: readonly (readonly [tool: string, args: unknown])[]; readonly finish?: string }
  | 'garbage'
  | 'endless'
  | 'nothing'
  | 'cut'
  | 'killed'
  | 'slow'
  | { readonly status: number; readonly headers?: Record<string, string> }

export interface Asked {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[]
  readonly tool_choice: unknown
  readonly stream?: boolean
  readonly headers: Readonly<Record<string, unknown>>
}

/** How an API answers with tool calls. */
type Answering = (step: Extract<Scripted, { calls: unknown }>, response: ServerResponse, isStreamed: boolean) => void

/** A server on loopback with the API of OpenAI, or with another API. It answers the requests one after the other, as scripted. */
export async function modelServer(
  script: readonly Scripted[],
  answering: Answering = answerOfOpenAi,
): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const given = JSON.parse(body) as Asked
    const step = script[asked.length] ?? 'nothing'
    asked.push({ ...given, headers: request.headers })
    answer(step, response, { isStreamed: given.stream === true, answering })
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked }
}

const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }

function answer(
  step: Scripted,
  response: ServerResponse,
  { isStreamed, answering }: { isStreamed: boolean; answering: Answering },
): void {
  if (step === 'nothing') return
  if (step === 'killed' || step === 'slow') {
    // The answer has begun, as whole lines, when the server dies or stalls.
    const type = isStreamed ? 'text/event-stream' : 'application/json'
    const chunk = { id: 'c', created: 1, model: 'm', object: 'chat.completion.chunk' }
    const delta = { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'Let me' } }] }
    response.writeHead(200, { 'content-type': type })
    response.write(isStreamed ? `data: ${JSON.stringify(delta)}\n\n` : '{"id":"c","choices":[', () => {
      if (step === 'killed') response.destroy()
    })
    return
  }
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
  answering(step, response, isStreamed)
}

const answerOfOpenAi: Answering = (step, response, isStreamed) => {
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

/** The API of Anthropic: tool calls are blocks of the content, and a stream has named events. */
export const answerOfAnthropic: Answering = ({ calls, finish = 'tool_use' }, response, isStreamed) => {
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'stand-in' }
  const blocks = calls.map(([name, input], index) => ({ type: 'tool_use', id: `call_${index}`, name, input }))
  const used = { input_tokens: 100, output_tokens: 10 }
  if (!isStreamed) {
    const whole = { ...message, content: blocks, stop_reason: finish, stop_sequence: null, usage: used }
    return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole))
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const event = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  event('message_start', { message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: used } })
  for (const [index, { input, ...block }] of blocks.entries()) {
    event('content_block_start', { index, content_block: { ...block, input: {} } })
    const partial_json = JSON.stringify(input)
    event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } })
    event('content_block_stop', { index })
  }
  event('message_delta', { delta: { stop_reason: finish, stop_sequence: null }, usage: { output_tokens: 10 } })
  event('message_stop', {})
  response.end()
}

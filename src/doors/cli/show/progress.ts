import type { Clock } from '../../../core/clock.ts'
import { howLong } from './time-text.ts'

interface Terminal {
  readonly isTTY?: boolean
  write(text: string): unknown
}

const silentMs = 1_000
const redrawMs = 1_000
const clearLine = '\r\u001b[K'

/** Shows a line at a terminal when something takes more than a second, and removes it afterwards. */
export async function withProgress<Answer>(
  { stderr, clock }: { readonly stderr: Terminal; readonly clock: Clock },
  doing: string,
  work: Promise<Answer>,
): Promise<Answer> {
  if (stderr.isTTY !== true) return work
  const startedAt = clock.monotonic()
  let isShown = false
  let cancel: () => void
  const draw = () => {
    isShown = true
    stderr.write(`${clearLine}${doing} … ${howLong(clock.monotonic() - startedAt)}`)
    cancel = clock.after(redrawMs, draw)
  }
  cancel = clock.after(silentMs, draw)
  try {
    return await work
  } finally {
    cancel()
    if (isShown) stderr.write(clearLine)
  }
}

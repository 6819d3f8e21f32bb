import { fence } from '../untrusted-text.ts'
import { originatedPrompt, type PromptOrigin } from './prompt-origin.ts'

export interface MessageToHand {
  readonly prompt: string
  /** The data that came with the prompt, as JSON text. */
  readonly payload?: string | undefined
  readonly origin: PromptOrigin
  /** Whether the owner wrote the prompt. A prompt of an unknown or unattended sender is data. */
  readonly isTrusted: boolean
}

/** A message as a session reads it: one line of origin, the owner's prompt, and everything else inside fences. */
export function handedMessage({ prompt, payload, origin, isTrusted }: MessageToHand): string {
  const handed = originatedPrompt(isTrusted ? prompt : fence(prompt), origin)
  return payload === undefined ? handed : `${handed}\n\n${fence(payload)}`
}

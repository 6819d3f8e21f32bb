import type { Attempt } from './attempt.ts'

/** The forms in which receivers take a message. */
export const messageFormats = ['json', 'text', 'slack', 'teams', 'discord', 'ntfy'] as const
export type MessageFormat = (typeof messageFormats)[number]

/** A message that a run of a part sends to a receiver, instead of its payload. */
export interface Message {
  /** The JSON that a program or a JSON receiver gets. */
  readonly json: unknown
  /** The message in another form, with the headers that this form needs. */
  written(format: MessageFormat): WrittenMessage
}

export interface WrittenMessage {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** Writes the payload of a run as the message that it sends. Links in it begin with `publicUrl`, where the worker knows one. */
export type WriteMessage = (payload: unknown, publicUrl: string | undefined) => Message

/** The message that an attempt sends; `null` where its run sends none. */
export type MessageOf = (attempt: Pick<Attempt, 'source' | 'payload'>) => Message | null

/** Finds the messages of runs by their sources. */
export function messagesBy(writers: Readonly<Record<string, WriteMessage>>, publicUrl: string | undefined): MessageOf {
  return ({ source, payload }) =>
    (Object.hasOwn(writers, source) ? writers[source]?.(payload, publicUrl) : null) ?? null
}

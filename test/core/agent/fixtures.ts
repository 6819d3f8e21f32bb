import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { TranscriptReader } from '../../../src/core/agent/transcript.ts'
import { transcriptUsage, transcriptVerdict } from '../../../src/core/agent/transcript-verdict.ts'
import type { AgentProfile } from '../../../src/parts/agents/profile-form.ts'
import { knownProfiles } from '../../../src/parts/agents/profiles.ts'

const folder = fileURLToPath(new URL('../../stand-ins/fixtures/', import.meta.url))

/** The shipped profiles. */
export async function shipped(): Promise<ReadonlyMap<string, AgentProfile>> {
  const nothing = {
    namespace: 'default',
    place: '/nowhere',
    do: async () => [] as never,
    look: async () => [] as never,
  }
  const known = await knownProfiles(nothing)
  return new Map([...known].map(([name, { profile }]) => [name, profile]))
}

export function fixture(name: string): string {
  return readFileSync(`${folder}${name}`, 'utf8')
}

export const fixtureNames = readdirSync(folder).sort()

export interface Played {
  readonly exitCode?: number | null
  /** The size of the pieces in which the text comes. */
  readonly step?: number
}

/** Reads a transcript, and judges it. */
export function judged(profile: AgentProfile, text: string, { exitCode = 0, step = 65_536 }: Played = {}) {
  const reader = new TranscriptReader(profile)
  let said = ''
  for (let at = 0; at < text.length; at += step) said += reader.add(text.slice(at, at + step))
  said += reader.end(exitCode === 0)
  const { facts } = reader
  return {
    facts,
    said,
    verdict: transcriptVerdict({ facts, profile, exitCode }),
    usage: transcriptUsage(facts, profile),
  }
}

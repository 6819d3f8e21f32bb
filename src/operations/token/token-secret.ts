import { createHash, timingSafeEqual } from 'node:crypto'
import { parseId } from '../../core/id.ts'

/** The text of a token: the id that finds its row, and the secret. */
export interface TokenParts {
  readonly id: string
  readonly secret: string
}

/** 256 random bits cannot be guessed, so a plain hash protects them as well as a slow one. */
export const secretBytes = 32

const pattern = /^belfry_(t-[0-9a-z]+)_([0-9a-f]{64})$/

export function tokenText({ id, secret }: TokenParts): string {
  return `belfry_${id}_${secret}`
}

export function tokenPartsOf(text: string): TokenParts | null {
  const [, id, secret] = pattern.exec(text) ?? []
  return id === undefined || secret === undefined || parseId('token', id) === null ? null : { id, secret }
}

/** Whether a text looks like a token of Belfry, also one that a part has made. */
export function isTokenText(text: string): boolean {
  return /^belfry_[0-9a-z.-]+_[0-9a-f]{64}$/.test(text)
}

export function hashOfSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url')
}

/** Compares in constant time. */
export function isSecretOf(secret: string, hash: string): boolean {
  const [given, kept] = [Buffer.from(hashOfSecret(secret)), Buffer.from(hash)]
  return given.length === kept.length && timingSafeEqual(given, kept)
}

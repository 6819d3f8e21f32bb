import type { ExecutorHost } from '../../../targets/kind.ts'
import { ModelFailure, type PlannerModel } from '../looks/converse.ts'
import type { PlannerSpec, Provider } from '../planner-row.ts'

type Host = Pick<ExecutorHost, 'secrets' | 'network'>

const packages: Readonly<Record<Provider, readonly string[]>> = {
  'openai-compatible': ['ai', '@ai-sdk/openai-compatible'],
  anthropic: ['ai', '@ai-sdk/anthropic'],
  scripted: [],
}

/** The packages that a provider needs and that are not installed. */
export function missingPackages(provider: Provider): readonly string[] {
  return packages[provider].filter((name) => {
    try {
      import.meta.resolve(name)
      return false
    } catch {
      return true
    }
  })
}

/** The command that installs a provider's packages, in the versions that were tested. */
export function installCommand(provider: Provider): string {
  const versions: Readonly<Record<string, string>> = {
    ai: '6',
    '@ai-sdk/openai-compatible': '2',
    '@ai-sdk/anthropic': '3',
  }
  return `npm install ${packages[provider].map((name) => `${name}@${versions[name]}`).join(' ')}`
}

/** The key of a provider; `null` if the provider needs a key and none is available. */
export async function keyOf(
  { provider, key }: PlannerSpec,
  { secrets }: Pick<Host, 'secrets'>,
): Promise<string | undefined | null> {
  if (key === undefined) return provider === 'anthropic' ? null : undefined
  try {
    return String((await secrets.resolve({ secret: key })).value)
  } catch {
    return null
  }
}

/** Opens a model for one look. `close` ends its connections. */
export async function openModel(
  spec: PlannerSpec,
  host: Host,
  now: () => number,
): Promise<{ model: PlannerModel; close(): Promise<void> }> {
  if (spec.provider === 'scripted') {
    const { scriptedModel, scriptIn } = await import('./scripted-model.ts')
    return { model: scriptedModel(await scriptIn(spec.script ?? ''), spec.model), close: async () => undefined }
  }
  const key = await keyOf(spec, host)
  if (key === null) throw new ModelFailure('no-key', `the secret ${spec.key ?? ''} is not here`)
  const { guardedFetch } = await import('./guarded-fetch.ts')
  const { sdkModel } = await import('./sdk-model.ts')
  const guarded = guardedFetch(host.network)
  return { model: await sdkModel({ spec, key, fetch: guarded.fetch, now }), close: guarded.close }
}

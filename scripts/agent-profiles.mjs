/** Writes `dist/agent-profiles.json`: the profiles of agents as a worker reads them when it starts. */
import { writeFileSync } from 'node:fs'
import { profilesRead } from '../dist/parts/agents/profiles.js'

const profiles = await profilesRead(new URL('../src/parts/agents/profiles/', import.meta.url))
writeFileSync(new URL('../dist/agent-profiles.json', import.meta.url), JSON.stringify(profiles))

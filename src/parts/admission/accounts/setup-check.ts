import { plainText } from '../../../operations/schedule/plain-text.ts'
import { counted, type HealthCheck, note } from '../../../operations/store/health-check.ts'
import { setupWords } from './account-answer.ts'
import { accountsNow } from './account-row.ts'

/** Each account on which the last agent could not log in or read its configuration. */
export const setupCheck: HealthCheck = {
  check: 'accounts',
  says: 'Whether agents could log in at their accounts. Wrong: the last one reported that its login or configuration is wrong, and no run has succeeded on the account since. Its runs still start, and are not tried again.',
  unblocks:
    'Log in with the agent’s own program as the user of the worker, or mend its profile; the first success clears it.',
  stopsNothing: true,
  async look({ store }) {
    const { byName } = await store.look(accountsNow)
    const failed = [...byName.values()].filter(({ standing }) => standing.setup !== undefined)
    if (failed.length === 0) return { says: 'No agent reported a wrong login or configuration.' }
    const findings = failed.map(({ name, standing: { setup } }) => {
      return note(
        name,
        `Account ${plainText(name)}: ${plainText(setup === undefined ? '' : setupWords(setup))}.`,
        `belfry account show ${name}`,
      )
    })
    return { says: `${counted(failed.length, 'account')} with a wrong login or configuration.`, findings }
  },
}

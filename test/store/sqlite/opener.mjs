import { openStore } from '../../../dist/open-store.js'

/**
 * A process that opens a store when it is told to and keeps it open until it is told to close it or is killed. With
 * `asPlainUser` it gives up root for good once its modules are loaded, because root may write everything.
 */
const { url, asPlainUser } = JSON.parse(process.argv[2] ?? '{}')
const nobody = 65534

if (asPlainUser && process.getuid?.() === 0) {
  process.setgroups([])
  process.setgid(nobody)
  process.setuid(nobody)
}
process.umask(0)

let store
process.on('message', async (word) => {
  if (word === 'open') process.send(await opened())
  if (word === 'close') {
    await store?.close()
    process.disconnect()
  }
})
process.send('ready')

async function opened() {
  try {
    store = await openStore(url)
    return { place: store.place }
  } catch ({ name, code, message, hint }) {
    return { name, code, message, hint }
  }
}

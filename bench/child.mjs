/**
 * One run of one measure, in a process of its own, so that nobody's compiled code or heap disturbs another's. The parent
 * names a module and an input; the module's `child` does the work, and may talk with the parent meanwhile.
 */
const link = {
  say: (message) => process.send({ said: message }),
  hear: () => new Promise((resolve) => process.once('message', resolve)),
}

process.once('message', async ({ module, input }) => {
  try {
    const { child } = await import(module)
    answer({ answer: (await child(input, link)) ?? null })
  } catch (error) {
    answer({ error: error instanceof Error ? `${error.name}: ${error.message}` : String(error), stack: error?.stack })
  }
})

/** Whatever a contestant has left open does not keep the process. */
function answer(message) {
  process.send(message, () => process.exit(0))
}

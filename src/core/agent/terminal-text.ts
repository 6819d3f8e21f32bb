/** Control sequences: of CSI, OSC and the like, and the short ones. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for.
const sequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~])|\r+(?=\n)/g
/** A sequence that may continue in the next piece. Longer text is not a sequence. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for.
const unfinished = /(?:\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b]*\u001b?|[ -/]*)?|\r+)$/
const unfinishedLengthMax = 4_096

/** Removes the colours, cursor moves and line ends of a terminal from a text that comes in pieces. */
export class TerminalText {
  #rest = ''

  add(text: string): string {
    const whole = this.#rest + text
    const cut = unfinished.exec(whole.slice(-unfinishedLengthMax))?.[0].length ?? 0
    this.#rest = cut === 0 ? '' : whole.slice(-cut)
    return whole.slice(0, whole.length - cut).replace(sequences, '')
  }

  end(): string {
    const rest = this.#rest
    this.#rest = ''
    return rest.startsWith('\r') ? '\n' : ''
  }
}

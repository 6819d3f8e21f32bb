/** Words as a shell would hand them over, of the quotes that `commandLine` writes. */
export function shellWords(line: string): string[] {
  const words = line.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? []
  return words.map((word) => word.replace(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double ?? ''))
}

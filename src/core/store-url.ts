/** What is wrong with the URL of a store, as a clause after `store`; null when it names one. */
export function storeUrlProblem(url: string): string | null {
  return isStoreUrl(url) ? null : `is ${JSON.stringify(shownStoreUrl(url))}, which does not name a store`
}

// Two slashes after sqlite: would begin a host, and taking them for the root of the disk is what nobody means by it.
function isStoreUrl(url: string): boolean {
  return url === 'memory:' || /^postgres(ql)?:\/\//.test(url) || /^sqlite:(?!\/\/[^/])./.test(url)
}

/** What may be shown of a URL whose parts nobody can tell: of one that may hold a password, only what it begins with. */
export function shownStoreUrl(url: string): string {
  return url.startsWith('sqlite:') ? url : url.replace(/^([\w+.-]*:).+$/s, '$1…')
}
